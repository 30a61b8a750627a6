"""Programs of many shapes: on a simulated device each gives the CPU's values, where it was told to run."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils import parametrizations, prune

from devlint.runtime.simulated import simulate


def ones(device: Any, *shape: int) -> Tensor:
    return torch.linspace(0.1, 1.0, int(torch.tensor(shape).prod())).reshape(shape).to(device)


def attention(device: Any) -> Tensor:
    net = nn.MultiheadAttention(8, 2, batch_first=True, add_zero_attn=True, bias=True).to(device)
    x = ones(device, 2, 3, 8)
    padding = torch.zeros(2, 3, dtype=torch.bool, device=device)
    padding[0, 2] = True
    out, weights = net(x, x, x, key_padding_mask=padding, attn_mask=torch.eye(3, device=device).bool().logical_not())
    return out + weights.sum()


def encoder_in_evaluation(device: Any) -> Tensor:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    net = nn.TransformerEncoder(layer, 2, enable_nested_tensor=True).to(device).eval()
    padding = torch.tensor([[False, False, True], [False, False, False]], device=device)
    with torch.no_grad():
        return net(ones(device, 2, 3, 8), src_key_padding_mask=padding)


def connectionist(device: Any) -> Tensor:
    logits = ones(device, 5, 2, 4).log_softmax(-1)
    targets = torch.tensor([[1, 2], [2, 3]]).to(device)
    return F.ctc_loss(logits, targets, torch.tensor([5, 5]), torch.tensor([2, 2]))


def jacobian(device: Any) -> Tensor:
    return torch.autograd.functional.jacobian(lambda x: (x**2).sum(0), ones(device, 3, 2))  # type: ignore[no-any-return]


def functional(device: Any) -> Tensor:
    net = nn.Linear(3, 2).to(device)
    parameters = {name: p * 2 for name, p in net.named_parameters()}
    return torch.func.functional_call(net, parameters, (ones(device, 2, 3),))


def per_sample(device: Any) -> Tensor:
    net = nn.Linear(3, 1).to(device)

    def loss(parameters: Any, x: Tensor) -> Tensor:
        return torch.func.functional_call(net, parameters, (x,)).square().sum()

    return torch.func.vmap(torch.func.grad(loss), (None, 0))(dict(net.named_parameters()), ones(device, 4, 3))["weight"]


def normalised(device: Any) -> Tensor:
    net = nn.Sequential(parametrizations.weight_norm(nn.Linear(3, 3)), parametrizations.spectral_norm(nn.Linear(3, 3)))
    prune.l1_unstructured(net[1], "bias", 1)
    return net.to(device)(ones(device, 2, 3))


def averaged(device: Any) -> Tensor:
    net = nn.Linear(3, 2).to(device)
    mean = torch.optim.swa_utils.AveragedModel(net, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9))
    steps = torch.optim.SGD(net.parameters(), 0.1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(steps, 0.1, total_steps=4)
    for _ in range(3):
        net(ones(device, 2, 3)).sum().backward()
        steps.step()
        schedule.step()
        mean.update_parameters(net)
    return mean(ones(device, 2, 3))


def whole_model_saved(device: Any) -> Tensor:
    stream = io.BytesIO()
    torch.save(nn.Linear(2, 2).to(device), stream)
    stream.seek(0)
    return torch.load(stream, weights_only=False)(ones(device, 1, 2))


def distributions(device: Any) -> Tensor:
    loc = torch.zeros(2, device=device)
    normal = torch.distributions.Normal(loc, torch.ones(2, device=device))
    mixed = torch.distributions.Categorical(logits=ones(device, 2, 3)).sample()
    many = torch.distributions.MultivariateNormal(loc, torch.eye(2, device=device)).rsample()
    return normal.rsample() + mixed + many + torch.normal(loc, 1.0) + torch.normal(0.0, 1.0, (2,), device=device)


def traced(device: Any) -> Tensor:
    net = torch.fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
    return net.to(device)(ones(device, 1, 2))


def scripted(device: Any) -> Tensor:
    @torch.jit.script
    def shifted(x: Tensor) -> Tensor:
        return x + torch.zeros(x.shape, device=x.device)

    return shifted(ones(device, 2))


@torch.jit.script
def _beside(x: Tensor) -> Tensor:
    return x * torch.ones(x.shape, device=x.device)


@torch.jit.script
def _beside_both(x: Tensor) -> Tensor:
    return _beside(x) + _beside(x)


def scripted_at_import(device: Any) -> Tensor:
    return _beside_both(ones(device, 2))


def lazy(device: Any) -> Tensor:
    return nn.LazyLinear(2).to(device)(ones(device, 1, 3))


def double_backward(device: Any) -> Tensor:
    x = ones(device, 3).requires_grad_()
    moved = x.cpu().to(device) ** 3
    (first,) = torch.autograd.grad(moved.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    return second


def accumulated(device: Any) -> Tensor:
    table = nn.Embedding(5, 2, sparse=True).to(device)
    table(torch.tensor([1, 1, 2], device=device)).sum().backward()
    torch.optim.SparseAdam(table.parameters()).step()
    assert table.weight.grad is not None
    return table.weight.grad.to_dense() + table.weight.detach()


def hooks(device: Any) -> Tensor:
    net = nn.Linear(2, 2).to(device)
    seen: list[Tensor] = []
    net.register_full_backward_hook(lambda module, given, back: seen.append(back[0]))
    x = ones(device, 1, 2).requires_grad_()
    x.register_hook(lambda grad: grad * torch.ones(2, device=grad.device))
    net(x).sum().backward()
    assert x.grad is not None
    return x.grad + seen[0]


PROGRAMS: list[Callable[[Any], Tensor]] = [
    attention,
    encoder_in_evaluation,
    connectionist,
    jacobian,
    functional,
    per_sample,
    normalised,
    averaged,
    whole_model_saved,
    distributions,
    traced,
    scripted,
    scripted_at_import,
    lazy,
    double_backward,
    accumulated,
    hooks,
    lambda d: F.interpolate(ones(d, 1, 1, 4, 4), scale_factor=2, mode="bicubic"),
    lambda d: F.grid_sample(ones(d, 1, 1, 4, 4), F.affine_grid(torch.eye(2, 3, device=d)[None], [1, 1, 4, 4])),
    lambda d: torch.istft(torch.stft(ones(d, 32), 8, window=torch.hann_window(8, device=d), return_complex=True), 8),
    lambda d: F.one_hot(torch.tensor([0, 2], device=d), 3) + torch.eye(3, device=d)[:2],
    lambda d: F.gumbel_softmax(ones(d, 2, 3), hard=True),
    lambda d: F.embedding_bag(torch.tensor([0, 1, 1], device=d), ones(d, 3, 2), torch.tensor([0, 2], device=d)),
    lambda d: nn.AdaptiveLogSoftmaxWithLoss(4, 10, [3, 6]).to(d)(ones(d, 2, 4), torch.tensor([1, 8], device=d)).output,
    lambda d: nn.GRU(2, 3, bidirectional=True).to(d)(ones(d, 3, 1, 2))[0],
    lambda d: nn.LSTMCell(2, 3).to(d)(ones(d, 1, 2))[0],
    lambda d: nn.Transformer(8, 2, 1, 1, 16, batch_first=True).to(d)(ones(d, 1, 2, 8), ones(d, 1, 3, 8)),
    lambda d: torch.einsum("ij,kj->ik", ones(d, 2, 3), ones(d, 4, 3)),
    lambda d: torch.quantile(ones(d, 4), torch.tensor([0.5], device=d)),
    lambda d: torch.quantile(input=ones(d, 4, 3), q=0.5, dim=-1, interpolation="lower"),
    lambda d: torch.searchsorted(ones(d, 4), ones(d, 2)),
    lambda d: torch.zeros(3, device=d).scatter_reduce(0, torch.tensor([0, 0], device=d), ones(d, 2), "sum"),
    lambda d: torch.unique(torch.tensor([1, 1, 2], device=d), return_counts=True)[1],
    lambda d: torch.combinations(ones(d, 3)) + torch.cartesian_prod(ones(d, 3), ones(d, 1)),
    lambda d: torch.block_diag(ones(d, 2, 2), ones(d, 1, 1)),
    lambda d: torch.fft.irfft(torch.fft.rfft(ones(d, 8))),
    lambda d: torch.linalg.svd(ones(d, 2, 2))[1] + torch.linalg.eigh(torch.eye(2, device=d))[0],
    lambda d: torch.bincount(torch.tensor([0, 1, 1], device=d)),
    lambda d: torch.tril_indices(3, 3, device=d) + 0,
    lambda d: torch.nn.utils.rnn.pad_sequence([ones(d, 2), ones(d, 3)]),
    lambda d: torch.nn.utils.parameters_to_vector(nn.Linear(2, 2).to(d).parameters()),
    lambda d: ones(d, 2, 2).to_sparse().coalesce().values(),
    lambda d: torch.sparse.mm(torch.eye(2, device=d).to_sparse_csr(), ones(d, 2, 2)),
    lambda d: torch.nested.nested_tensor([ones(d, 2), ones(d, 3)]).to_padded_tensor(0.0),
    lambda d: torch.polar(ones(d, 2), ones(d, 2)).real + torch.complex(ones(d, 2), ones(d, 2)).imag,
    lambda d: copy.deepcopy(nn.BatchNorm1d(2).to(d))(ones(d, 3, 2)),
    lambda d: F.multi_margin_loss(ones(d, 2, 3), torch.tensor([0, 1], device=d)),
    lambda d: F.triplet_margin_loss(ones(d, 2, 3), ones(d, 2, 3) + 1, ones(d, 2, 3) + 2),
    lambda d: torch.cumsum(ones(d, 3), 0)[torch.tensor([True, False, True], device=d)],
    lambda d: torch.randn(2, device=d) + torch.rand_like(ones(d, 2)) + torch.randperm(2, device=d),
    lambda d: ones(d, 2).new_full((2,), 3.0) + ones(d, 2).new_tensor([1.0, 2.0]),
    lambda d: torch.stack(list(ones(d, 2, 2))),
    lambda d: torch.where(ones(d, 3) > 0.5, ones(d, 3), torch.tensor(0.0)),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_program_gives_the_cpu_s_values_on_its_device(program: Callable[[Any], Tensor]) -> None:
    torch.manual_seed(0)
    expected = program("cpu").detach()
    with simulate():
        torch.manual_seed(0)
        result = program("cuda:1").detach()
        assert result.device == torch.device("cuda:1")
    torch.testing.assert_close(result, expected, atol=1e-5, rtol=1e-5)
