"""What a program may say, by the kind of value that it gives. Every shape fits every other: sides are 4 long.

Kinds: ``M`` float32[4, 4], ``V`` float32[4], ``S`` float32[], ``I`` int64[4] of 0 to 3, ``B`` bool[4, 4], ``n`` a
Python number. In a text ``<M>`` stands for any expression of a kind, ``<M.>`` for one that may be followed by a dot,
``<M=>`` for a name or an attribute. ``<at>`` is ``, device=...``, or nothing where a program forgets it; ``<dev>`` is
a device.
"""

from __future__ import annotations

KINDS = "MVSIB"

EXPRESSIONS: dict[str, tuple[str, ...]] = {
    "M": (
        "<M> + <M>",
        "<M> - <V>",
        "<M> * <S>",
        "<M.> * <n>",
        "<n> - <M.>",
        "-<M.>",
        "<M.> @ <M.>",
        "torch.matmul(<M>, <M>)",
        "F.linear(<M>, <M>)",
        "F.linear(<M>, <M>, <V>)",
        "torch.relu(<M>)",
        "F.gelu(<M>)",
        "torch.softmax(<M>, dim=-1)",
        "F.layer_norm(<M>, (4,))",
        "F.dropout(<M>, 0.1)",
        "<M.>.tanh()",
        "<M.>.t()",
        "<M.>.transpose(0, 1)",
        "<M.>.clone()",
        "<M.>.detach()",
        "<M.>.reshape(4, 4)",
        "<M.>.view(2, 8).reshape(4, 4).contiguous()",
        "<M.>.masked_fill(<B>, 0.0)",
        "torch.where(<B>, <M>, <M>)",
        "torch.where(<B>, <M>, 0.0)",
        "torch.cat([<M>, <M>], dim=0)[:4]",
        "torch.cat((<M>, <V.>.unsqueeze(0)))[1:]",
        "torch.stack([<V>, <V>, <V>, <V>])",
        "torch.stack([row * 2 for row in <M=>])",
        "<M=>[<I>]",
        "<M=>[:, <I>]",
        "<M.>.index_select(0, <I>)",
        "F.embedding(<I>, <M>)",
        "torch.gather(<M>, 1, <I.>.unsqueeze(0).expand(4, 4))",
        "torch.outer(<V>, <V>)",
        'torch.einsum("ij,jk->ik", <M>, <M>)',
        "torch.addmm(<V>, <M>, <M>)",
        "torch.lerp(<M>, <M>, 0.5)",
        "torch.maximum(<M>, <M>)",
        "torch.clamp(<M>, min=0.0)",
        "torch.tril(<M>)",
        "F.one_hot(<I>, 4).float()",
        "<V.>.expand(4, 4)",
        "<V.>.unsqueeze(1).repeat(1, 4)",
        "<M.>.sort(dim=-1).values",
        "torch.zeros_like(<M>)",
        "torch.randn_like(<M>)",
        "<M.>.new_ones(4, 4)",
    ),
    "V": (
        "<M.>.mean(0)",
        "<M.>.sum(dim=1)",
        "<M=>[0]",
        "<V> + <V>",
        "<V> * <S>",
        "<M.> @ <V.>",
        "<V=>[<I>]",
        "<I.>.float()",
        "torch.diag(<M>)",
        "<M.>.max(dim=1)[0]",
        "<M.>.norm(dim=-1)",
        'F.cross_entropy(<M>, <I>, reduction="none")',
        "torch.sigmoid(<V>)",
    ),
    "S": (
        "<M.>.sum()",
        "<M.>.mean()",
        "<V.>.max()",
        "<V=>[0]",
        "F.mse_loss(<M>, <M>)",
        "F.cross_entropy(<M>, <I>)",
        "<S> + 1.0",
        "torch.tensor(0.5)",
    ),
    "I": (
        "<M.>.argmax(dim=1)",
        "<V.>.argsort()",
        "<I.>.flip(0)",
        "(<I> + 1) % 4",
        "torch.topk(<V>, 4)[1]",
        "torch.clamp(<I>, max=2)",
    ),
    "B": ("<M.> > 0", "<M.> > <M.>", "torch.isnan(<M>)", "~<B.>", "<B.> & <B.>", "<M.> != <S.>"),
    "n": ("2.0", "0.5", "<M=>.size(0)", "len(<M=>)", "<M=>.shape[1]", "float(<S>)", "<S.>.item()", "math.sqrt(2)"),
}
"""Of values of which there is at least one already."""

MADE: dict[str, tuple[str, ...]] = {
    "M": (
        "torch.zeros(4, 4<at>)",
        "torch.ones((4, 4)<at>)",
        "torch.eye(4<at>)",
        "torch.randn(4, 4<at>)",
        "torch.full((4, 4), 0.5<at>)",
        "torch.arange(16.0<at>).view(4, 4)",
        "torch.linspace(0, 1, 4<at>).repeat(4, 1)",
        "torch.tril(torch.ones(4, 4<at>))",
    ),
    "V": (
        "torch.ones(4<at>)",
        "torch.linspace(0.0, 1.0, 4<at>)",
        "torch.tensor([0.1, 0.2, 0.3, 0.4]<at>)",
        "torch.arange(4<at>).float()",
        "torch.hann_window(4<at>)",
    ),
    "S": ("torch.tensor(0.5<at>)", "torch.zeros((), dtype=torch.float32<at>)"),
    "I": (
        "torch.arange(4<at>)",
        "torch.randperm(4<at>)",
        "torch.randint(0, 4, (4,)<at>)",
        "torch.tensor([0, 2, 1, 3]<at>)",
        "torch.zeros(4, dtype=torch.long<at>)",
    ),
    "B": ("torch.ones(4, 4, dtype=torch.bool<at>)", "torch.triu(torch.ones(4, 4<at>), diagonal=1) > 0"),
}
"""Of nothing."""

LIKE = ("torch.zeros(<M=>.shape<at>)", "torch.rand(<M=>.size(0), <M=>.size(1)<at>)", "torch.ones(len(<M=>), 4<at>)")
"""Matrices that only their sizes have from others."""

MOVED = ("<X.>.to(<dev>)", "<X.>.to(device=<dev>)", "<X.>.to(<M=>.device)")
TAKEN_BACK = ("<X.>.cpu()", '<X.>.to("cpu")', "<X.>.detach().cpu()")
"""To the host, where what follows may forget it."""

READ = ("<M.>.detach().cpu().numpy().sum()", "sum(<V.>.tolist())", "int(<I=>[0])", "<M.>.sum().item()")
"""Reads of the host that are right."""
READ_WRONG = ("<M.>.detach().numpy().sum()", "np.mean(<V.>.detach())", "<I=>.numpy()[0]")

CONDITIONS = (
    "<M=>.size(0) > 2",
    "<M=>.dim() == 2",
    "<M=>.shape[0] == <M=>.shape[1]",
    "isinstance(<M=>, torch.Tensor)",
    "<M=>.is_cuda",
    '<M=>.device.type == "cuda"',
    "<M=>.requires_grad",
    "<M=>.sum() > 0",
    "torch.cuda.is_available()",
)
CONTEXTS = ("torch.no_grad()", "torch.enable_grad()", "torch.device(<dev>)", "torch.autograd.set_detect_anomaly(False)")
