"""Training on simulated devices gives the values of the same training on the CPU."""

from __future__ import annotations

import copy
import io
import pickle
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from devlint.runtime.simulated import simulate


class ConvNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.3), nn.Conv2d(8, 4, 3)
        )
        self.head = nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.features(x).mean((2, 3)))


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.LSTM(4, 5, num_layers=2, bidirectional=True, batch_first=True)
        self.head = nn.Linear(10, 2)

    def forward(self, x: Tensor) -> Tensor:
        packed = nn.utils.rnn.pack_padded_sequence(x, torch.tensor([6, 4, 3]), batch_first=True)
        out, _ = nn.utils.rnn.pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return self.head(out[:, -1])


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(8, 2)

    def forward(self, x: Tensor) -> Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1], device=x.device)
        return self.head(self.encoder(x, mask=mask).mean(1))


NETS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "conv": (ConvNet, (3, 3, 12, 12)),
    "lstm": (Recurrent, (3, 6, 4)),
    "encoder": (Encoder, (3, 5, 8)),
}


def train(name: str, device: str, optimizer: Callable[..., torch.optim.Optimizer] = torch.optim.Adam) -> list[float]:
    build, shape = NETS[name]
    torch.manual_seed(0)
    net = build().to(device)
    x, y = torch.randn(shape).to(device), torch.tensor([0, 1, 0]).to(device)
    steps = optimizer(net.parameters(), lr=0.01)
    losses = []
    for _ in range(3):
        steps.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        steps.step()
        losses.append(loss.item())
    assert all(p.device == p.grad.device == torch.empty(0, device=device).device for p in net.parameters())
    net.eval()
    with torch.no_grad():
        losses.append(net(x).sum().item())
    return losses


@pytest.mark.parametrize("name", NETS)
def test_two_steps_with_clipping_give_the_loss_of_the_cpu(name: str) -> None:
    expected = train(name, "cpu")
    with simulate():
        assert train(name, "cuda:1") == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("optimizer", ["SGD", "AdamW", "Adagrad", "RMSprop", "Adadelta", "NAdam", "LBFGS"])
def test_every_optimizer_groups_by_claimed_device(optimizer: str) -> None:
    def run(device: str) -> list[float]:
        torch.manual_seed(0)
        net = nn.Linear(3, 2).to(device)
        x = torch.ones(2, 3, device=device)
        steps = getattr(torch.optim, optimizer)(net.parameters(), lr=0.1)

        def closure() -> Any:
            steps.zero_grad()
            loss = net(x).square().sum()
            loss.backward()
            return loss

        return [float(steps.step(closure)) for _ in range(2)]

    expected = run("cpu")
    with simulate():
        assert run("cuda") == pytest.approx(expected, abs=1e-5)


def test_adam_state_left_behind_by_a_move_breaks_the_next_step() -> None:
    with simulate():
        net = nn.Linear(3, 2)
        steps = torch.optim.Adam(net.parameters())
        net(torch.ones(1, 3)).sum().backward()
        steps.step()
        net.cuda()
        net(torch.ones(1, 3).cuda()).sum().backward()
        with pytest.raises(RuntimeError, match="same device"):
            steps.step()


class Broken(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        assert x.device == grad.device == torch.device("cuda:0")
        return grad * torch.full((3,), 2.0)


class OnTheWrongSide(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return torch.full((3,), 2.0)


def test_a_mistake_inside_backward_is_raised() -> None:
    with simulate():
        x = torch.ones(3, device="cuda", requires_grad=True)
        with pytest.raises(RuntimeError, match="at least two devices, cuda:0 and cpu"):
            Broken.apply(x).sum().backward()
        with pytest.raises(RuntimeError, match="invalid gradient at index 0 - expected device cuda:0 but got cpu"):
            OnTheWrongSide.apply(x).sum().backward()


def test_gradients_come_back_to_where_the_leaf_is() -> None:
    with simulate():
        leaf = torch.ones(3, requires_grad=True)
        (leaf.cuda() * torch.ones(3).cuda() + leaf.sum().cuda()).sum().backward()
        assert leaf.grad is not None
        assert leaf.grad.device.type == "cpu"
        scale = torch.tensor(2.0, requires_grad=True)
        (torch.ones(3, device="cuda") * (scale * 3)).sum().backward()
        assert scale.grad is not None
        assert scale.grad.device.type == "cpu"
        target, part = torch.zeros(4, device="cuda"), torch.ones(2, requires_grad=True)
        target[1:3] = part * 2
        target.sum().backward()
        assert part.grad is not None
        assert part.grad.tolist() == [2.0, 2.0]
        assert part.grad.device.type == "cpu"


def test_checkpointed_code_runs_again_on_its_device() -> None:
    with simulate():
        net = nn.Linear(3, 3).cuda()
        x = torch.ones(2, 3, device="cuda", requires_grad=True)

        def part(value: Tensor) -> Tensor:
            assert value.device.type == "cuda"
            return F.dropout(net(value) + torch.ones(3, device=value.device))

        for reentrant in (True, False):
            checkpoint(part, x, use_reentrant=reentrant).sum().backward()
        assert x.grad is not None
        assert x.grad.is_cuda


def test_vmap_and_grad_see_claimed_devices() -> None:
    with simulate():
        weight = torch.ones(3, device="cuda")

        def loss(w: Tensor, row: Tensor) -> Tensor:
            assert row.device == torch.device("cuda:0")
            return (w * row).sum()

        rows = torch.ones(2, 3, device="cuda")
        grads = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(weight, rows)
        assert grads.device == torch.device("cuda:0")
        with pytest.raises(RuntimeError, match="at least two devices"):
            torch.func.vmap(loss, in_dims=(None, 0))(torch.ones(3), rows)


def test_copies_pickles_and_files_keep_the_claimed_device() -> None:
    with simulate():
        net = nn.Linear(2, 2).to("cuda:1")
        assert copy.deepcopy(net).weight.device == torch.device("cuda:1")
        assert pickle.loads(pickle.dumps(net.weight)).device == torch.device("cuda:1")
        stream = io.BytesIO()
        torch.save(net.state_dict(), stream)
        stream.seek(0)
        assert torch.load(stream)["weight"].device == torch.device("cuda:1")
        stream.seek(0)
        moved = torch.load(stream, map_location="cuda:0")
        assert moved["bias"].device == torch.device("cuda:0")
        stream.seek(0)
        host = torch.load(stream, map_location=torch.device("cpu"))
        assert host["bias"].device.type == "cpu"
        assert torch.equal(host["bias"], net.bias.detach().cpu())
        stream.seek(0)
    with simulate(count=1), pytest.raises(RuntimeError, match=r"CUDA device 1 but torch.cuda.device_count\(\) is 1"):
        torch.load(stream)
    stream.seek(0)
    with pytest.raises(RuntimeError, match=r"torch.cuda.is_available\(\) is False"):
        torch.load(stream)


def test_threads_the_program_starts_are_on_the_machine() -> None:
    seen: list[Any] = []

    def work() -> None:
        seen.append((torch.ones(2).cuda().device, torch.cuda.current_device()))
        try:
            torch.ones(2).cuda() + torch.ones(2)
        except RuntimeError as error:
            seen.append(str(error))

    with simulate():
        torch.cuda.set_device(1)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert seen[0] == (torch.device("cuda:0"), 0)
    assert "at least two devices" in seen[1]


class Rows(torch.utils.data.Dataset[Any]):
    def __init__(self, touch: bool = False) -> None:
        self.touch = touch

    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> Tensor:
        row = torch.full((2,), float(index))
        return row.cuda() if self.touch else row


def test_loader_workers_make_cpu_tensors_and_may_not_touch_the_accelerator() -> None:
    with simulate():
        net = nn.Linear(2, 1).cuda()
        loader = torch.utils.data.DataLoader(Rows(), batch_size=3, num_workers=2, pin_memory=True)
        batches = list(loader)
        assert [b.device.type for b in batches] == ["cpu", "cpu"]
        assert all(b.is_pinned() for b in batches)
        assert net(batches[0].to("cuda", non_blocking=True)).is_cuda
        with pytest.raises(RuntimeError, match="Cannot re-initialize CUDA in forked subprocess"):
            list(torch.utils.data.DataLoader(Rows(touch=True), num_workers=1))


def test_data_parallel_scatters_over_the_simulated_devices() -> None:
    seen: list[Any] = []

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(3, 1)

        def forward(self, x: Tensor) -> Tensor:
            seen.append((x.device, self.linear.weight.device))
            return self.linear(x)

    torch.manual_seed(0)
    net = Net()
    expected = net(torch.ones(4, 3)).sum().item()
    seen.clear()
    with simulate():
        parallel = nn.DataParallel(net.cuda())
        out = parallel(torch.ones(4, 3))
        assert out.device == torch.device("cuda:0")
        out.sum().backward()
        assert out.sum().item() == pytest.approx(expected, abs=1e-5)
        assert net.linear.weight.grad is not None
        assert net.linear.weight.grad.device == torch.device("cuda:0")
        with pytest.raises(RuntimeError, match="found one of them on device: cpu"):
            nn.DataParallel(Net())(torch.ones(4, 3))
    assert sorted(map(str, {d for pair in seen for d in pair})) == ["cuda:0", "cuda:1"]
    assert all(a == b for a, b in seen)


def test_compiled_functions_run_eagerly() -> None:
    with simulate():
        net = nn.Linear(3, 3).cuda()
        compiled = torch.compile(net, backend="eager")
        assert compiled(torch.ones(2, 3, device="cuda")).is_cuda
        with pytest.raises(RuntimeError, match="mat1 is on cpu"):
            compiled(torch.ones(2, 3))


def test_scaler_and_autocast_by_name() -> None:
    with simulate():
        net = nn.Linear(3, 1).cuda()
        steps = torch.optim.SGD(net.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cuda")
        with torch.autocast("cuda"):
            loss = net(torch.ones(2, 3, device="cuda")).sum()
        scaler.scale(loss).backward()
        scaler.unscale_(steps)
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(steps)
        scaler.update()
        assert scaler.is_enabled()


def test_derivatives_of_derivatives_forward_and_reverse() -> None:
    def second(x: Tensor) -> Tensor:
        hessian: Tensor = torch.func.hessian(lambda x: (x**3).sum())(x)
        return hessian

    with simulate():
        on_device = second(torch.tensor([1.0, 2.0], device="cuda:1"))
        assert on_device.device == torch.device("cuda:1")
        found = on_device.cpu()
    assert torch.equal(found, second(torch.tensor([1.0, 2.0])))
