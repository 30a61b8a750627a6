"""What simulating and recording cost, as ratios measured in one run.

    python -m tests.benchmarks.simulation

Simulation: the time added to each operation on a simulated device, beside the time `FakeTensorMode` adds to the same
operation. Recording: the time added to each operation on a real device (the CPU, and CUDA where there is one), beside
that of a function mode and a dispatch mode that do nothing. Forward and backward of a small encoder are measured too.
The smallest of several repetitions counts, in processor time, so that other work on the machine does not matter much;
steps on CUDA are timed by the clock, from one synchronisation to the next.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from devlint.runtime.real import RealMachine
from devlint.runtime.session import observe
from devlint.runtime.simulated import simulate

ROUNDS, REPETITIONS = 400, 7

OPERATIONS: dict[str, Callable[[Tensor], Any]] = {
    "add": lambda x: x + x,
    "relu": torch.relu,
    "view": lambda x: x.view(-1),
    "matmul": lambda x: x @ x,
    "cat": lambda x: torch.cat([x, x]),
    "softmax": lambda x: torch.softmax(x, -1),
    "add_": lambda x: x.add_(1),
    "index": lambda x: x[0],
}


class EmptyFunctions(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class EmptyDispatch(TorchDispatchMode):
    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


@contextmanager
def empty_pair() -> Iterator[None]:
    with EmptyFunctions(), EmptyDispatch():
        yield


@contextmanager
def nothing() -> Iterator[None]:
    yield


def per_call(run: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """Microseconds a call: the smallest of several repetitions."""
    best = float("inf")
    for _ in range(REPETITIONS):
        start = time.thread_time()
        for _ in range(rounds):
            run()
        best = min(best, (time.thread_time() - start) / rounds)
    return best * 1e6


def measure(entered: Callable[[], AbstractContextManager[Any]], place: str = "cpu") -> dict[str, float]:
    """Microseconds of each operation, without gradients, inside `entered()`."""
    with entered(), torch.no_grad():
        x = torch.ones(8, 8, device=place)
        return {name: per_call(lambda run=run: run(x)) for name, run in OPERATIONS.items()}


def measure_encoder(entered: Callable[[], AbstractContextManager[Any]], place: str = "cpu") -> float:
    """Milliseconds of a training step of a 6-layer encoder of width 512."""
    with entered():
        layer = nn.TransformerEncoderLayer(512, 8, 1024, dropout=0.0, batch_first=True)
        net = nn.TransformerEncoder(layer, 6).to(place)
        x = torch.ones(4, 64, 512, device=place)

        def step() -> None:
            net.zero_grad()
            net(x).sum().backward()

        step()
        return (per_call(step, rounds=1) if place == "cpu" else by_the_clock(step)) / 1000


def by_the_clock(run: Callable[[], Any], rounds: int = 10) -> float:
    """Microseconds of a step on CUDA: the smallest of several repetitions."""
    best = float("inf")
    for _ in range(REPETITIONS):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(rounds):
            run()
        torch.cuda.synchronize()
        best = min(best, (time.perf_counter() - start) / rounds)
    return best * 1e6


def report(title: str, plain: dict[str, float], ours: dict[str, float], other: dict[str, float], name: str) -> None:
    print(f"{title}\n{'operation':<12}{'plain us':>10}{'ours +us':>10}{name + ' +us':>18}{'ratio':>8}")
    ratios = []
    for operation, base in plain.items():
        added, beside = ours[operation] - base, other[operation] - base
        ratios.append(added / beside)
        print(f"{operation:<12}{base:>10.1f}{added:>10.1f}{beside:>18.1f}{ratios[-1]:>8.2f}")
    print(f"{'median':<12}{'':>38}{sorted(ratios)[len(ratios) // 2]:>8.2f}\n")


def main() -> None:
    torch.set_num_threads(1)
    plain = measure(nothing)
    report("simulation beside FakeTensorMode", plain, measure(simulate, "cuda"), measure(FakeTensorMode), "FakeTensor")
    recording = lambda: observe(RealMachine("cpu"), lambda _: None, device="cpu")  # noqa: E731
    report("recording beside an empty pair of modes", plain, measure(recording), measure(empty_pair), "empty pair")
    bare = measure_encoder(nothing)
    rows = {"simulated": (simulate, "cuda"), "recorded": (recording, "cpu"), "empty pair": (empty_pair, "cpu")}
    print(f"training step of a 6-layer encoder of width 512: {bare:.1f} ms plain")
    for name, (entered, place) in rows.items():
        print(f"  {name:<12} x{measure_encoder(entered, place) / bare:.2f}")  # type: ignore[arg-type]
    on_cuda()


def on_cuda() -> None:
    if not torch.cuda.is_available():
        print(f"\nrecording on CUDA: not measured (torch {torch.__version__} finds no device)")
        return
    recording = lambda: observe(RealMachine("cuda"), lambda _: None, device="cuda:0")  # noqa: E731
    plain = measure(nothing, "cuda")
    title = f"\nrecording on {torch.cuda.get_device_name(0)} beside an empty pair of modes"
    report(title, plain, measure(recording, "cuda"), measure(empty_pair, "cuda"), "empty pair")
    bare = measure_encoder(nothing, "cuda")
    print(f"training step of the encoder on CUDA: {bare:.1f} ms plain")
    for name, entered in {"recorded": recording, "empty pair": empty_pair}.items():
        print(f"  {name:<12} x{measure_encoder(entered, 'cuda') / bare:.2f}")


if __name__ == "__main__":
    main()
