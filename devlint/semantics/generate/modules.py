"""The classes of `torch.nn`: which hold state, which are losses, what `forward` takes, which function they are."""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

import torch
from torch import nn

Row = dict[str, Any]

# Arguments with which a class that has required ones is built.
BUILD: dict[str, str] = {
    **dict.fromkeys((f"Conv{d}d" for d in (1, 2, 3)), "2, 2, 1"),
    **dict.fromkeys((f"ConvTranspose{d}d" for d in (1, 2, 3)), "2, 2, 1"),
    **dict.fromkeys((f"LazyConv{d}d" for d in (1, 2, 3)), "2, 1"),
    **dict.fromkeys((f"LazyConvTranspose{d}d" for d in (1, 2, 3)), "2, 1"),
    **dict.fromkeys((f"{n}Norm{d}d" for n in ("Batch", "Instance") for d in (1, 2, 3)), "2"),
    **dict.fromkeys((f"{n}Pool{d}d" for n in ("Max", "Avg", "AdaptiveMax", "AdaptiveAvg") for d in (1, 2, 3)), "2"),
    **dict.fromkeys((f"MaxUnpool{d}d" for d in (1, 2, 3)), "2"),
    **dict.fromkeys((f"LPPool{d}d" for d in (1, 2, 3)), "2, 2"),
    **dict.fromkeys(("FractionalMaxPool2d", "FractionalMaxPool3d"), "2, output_size=2"),
    **dict.fromkeys((f"{n}Pad{d}d" for n in ("Reflection", "Replication", "Zero", "Circular") for d in (1, 2, 3)), "1"),
    **dict.fromkeys((f"ConstantPad{d}d" for d in (1, 2, 3)), "1, 0.0"),
    **dict.fromkeys(
        ("Linear", "RNN", "LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell", "Embedding", "EmbeddingBag"), "2, 2"
    ),
    **dict.fromkeys(("LayerNorm", "RMSNorm", "SyncBatchNorm", "LazyLinear", "PixelShuffle", "PixelUnshuffle"), "2"),
    **dict.fromkeys(
        ("ChannelShuffle", "Upsample", "UpsamplingNearest2d", "UpsamplingBilinear2d", "LocalResponseNorm"), "2"
    ),
    "Bilinear": "2, 2, 2",
    "GroupNorm": "1, 2",
    "CrossMapLRN2d": "2",
    "MultiheadAttention": "2, 1",
    "TransformerEncoderLayer": "2, 1, 2",
    "TransformerDecoderLayer": "2, 1, 2",
    "TransformerEncoder": "nn.TransformerEncoderLayer(2, 1, 2), 1, enable_nested_tensor=False",
    "TransformerDecoder": "nn.TransformerDecoderLayer(2, 1, 2), 1",
    "Transformer": "2, 1, 1, 1, 2",
    "AdaptiveLogSoftmaxWithLoss": "2, 4, [2]",
    "Threshold": "0.1, 20",
    "Fold": "2, 1",
    "Unfold": "1",
    "Unflatten": "1, (1, 1)",
    "LinearCrossEntropyLoss": "2, 2",
    "RNNBase": "'LSTM', 2, 2",
    "RNNCellBase": "2, 2, True, 1",
}

KEYED = ("ModuleDict", "ParameterDict")
CONTAINERS = ("Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict", "Container", "DataParallel")
TUPLES = ("RNN", "LSTM", "GRU", "LSTMCell", "MultiheadAttention")
NO_TENSOR = ("AdaptiveLogSoftmaxWithLoss",)
FLAGS = ("affine", "elementwise_affine", "track_running_stats")
TENSORS = ("weight", "pos_weight")

TWINS: dict[str, str] = {
    "BCELoss": "binary_cross_entropy",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "CTCLoss": "ctc_loss",
    "KLDivLoss": "kl_div",
    "L1Loss": "l1_loss",
    "MSELoss": "mse_loss",
    "NLLLoss": "nll_loss",
    "NLLLoss2d": "nll_loss",
    "PoissonNLLLoss": "poisson_nll_loss",
    "GaussianNLLLoss": "gaussian_nll_loss",
    "SmoothL1Loss": "smooth_l1_loss",
    "MultiLabelMarginLoss": "multilabel_margin_loss",
    "MultiLabelSoftMarginLoss": "multilabel_soft_margin_loss",
    "TripletMarginWithDistanceLoss": "triplet_margin_with_distance_loss",
    "Bilinear": "bilinear",
    "CosineSimilarity": "cosine_similarity",
    "PairwiseDistance": "pairwise_distance",
}


def module_rows(operations: dict[str, Row]) -> dict[str, Row]:
    """One row for each public class of torch.nn that is a Module."""
    found: dict[str, Row] = {}
    for short in sorted(dir(nn)):
        cls = getattr(nn, short)
        if inspect.isclass(cls) and issubclass(cls, nn.Module) and cls is not nn.Module and not short.startswith("_"):
            found[f"torch.nn.{short}"] = _row(short, cls, operations)
    return found


def _row(short: str, cls: type[nn.Module], operations: dict[str, Row]) -> Row:
    row: Row = {"state": _holds_state(short, cls), **_optional_state(short, cls)}
    loss = short.endswith("Loss") or short in ("NLLLoss2d",)
    if loss:
        row["loss"] = True
    if short in CONTAINERS:
        held = {"items": "parameters"} if short.startswith("Parameter") else {}
        keyed = {"keyed": True} if short in KEYED else {}
        return {**row, "container": True, **held, **keyed, "returns": "other", "operands": ""}
    operands = _operands(cls)
    row["operands"] = " ".join(operands)
    if short in TUPLES:
        row["returns"] = "tuple"
    elif short in NO_TENSOR:
        row["returns"] = "other"
    twin = _twin(short)
    if twin is not None and len(operands) > 1 and not row["state"] and twin in operations:
        row["function"] = twin
    return row


def _holds_state(short: str, cls: type[nn.Module]) -> bool:
    """Whether an instance built with default options has parameters or buffers (lazy ones count)."""
    if short in CONTAINERS:
        return False
    return _state_of(short, cls)


def _state_of(short: str, cls: type[nn.Module], **options: Any) -> bool:
    build = partial(cls, **options)
    made = eval(f"build({BUILD.get(short, '')})", {"build": build, "nn": nn})
    return any(True for _ in made.parameters()) or any(True for _ in made.buffers())


def _optional_state(short: str, cls: type[nn.Module]) -> Row:
    """The constructor arguments that give a class state or take it away."""
    accepted = inspect.signature(cls).parameters
    flags = [name for name in FLAGS if name in accepted]
    tensors = [name for name in TENSORS if name in accepted]
    if short in CONTAINERS:
        return {}
    if _state_of(short, cls):
        bare = flags and not _state_of(short, cls, **dict.fromkeys(flags, False))
        return {"stateless_without": " ".join(flags)} if bare else {}
    given = [f for f in flags if _state_of(short, cls, **{f: True})]
    given += [t for t in tensors if _state_of(short, cls, **{t: torch.ones(2)})]
    return {"state_with": " ".join(given)} if given else {}


def _operands(cls: type[nn.Module]) -> list[str]:
    parameters = list(inspect.signature(cls.forward).parameters.values())[1:]
    annotated = [p.name for p in parameters if "Tensor" in str(p.annotation)]
    required = [p.name for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    states = [p.name for p in parameters if p.name in ("hx",)]
    return list(dict.fromkeys([*annotated, *required, *states]))


def _twin(short: str) -> str | None:
    """The function of torch.nn.functional a class calls, by name: CrossEntropyLoss -> cross_entropy."""
    if short in TWINS:
        return f"torch.nn.functional.{TWINS[short]}"
    words = "".join(f"_{c.lower()}" if c.isupper() else c for c in short).lstrip("_")
    for name in (words, words.removesuffix("_loss")):
        if hasattr(torch.nn.functional, name):
            return f"torch.nn.functional.{name}"
    return None
