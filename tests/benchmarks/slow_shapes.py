"""``python -m tests.benchmarks.slow_shapes [SECONDS]``: how the time of a file grows, for shapes made to be slow.

Each shape is made in growing sizes until one takes more than SECONDS (5) of processor time or is refused. The last
column is the exponent of the growth between the two largest: 1 is linear, 2 goes with the square.
"""

from __future__ import annotations

import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from devlint.configuration.codes import UNREADABLE_FILE, all_codes
from devlint.pipeline.task import FileTask, Gate
from devlint.pipeline.workers import run

HEAD = "import torch\n\n\n"
LARGEST = 65_536


def if_chain(n: int) -> str:
    branches = "".join(f"    elif kind == {i}:\n        y = x.to('cuda:{i % 4}')\n" for i in range(n))
    return f"{HEAD}def f(x, kind):\n    if kind is None:\n        y = x\n{branches}    return y + torch.ones(3)\n"


def if_after_if(n: int) -> str:
    branches = "".join(f"    if a{i}:\n        x = x.cuda()\n" for i in range(n))
    arguments = ", ".join(f"a{i}" for i in range(n))
    return f"{HEAD}def f(x, {arguments}):\n{branches}    return x + torch.ones(3)\n"


def nested_blocks(n: int) -> str:
    # Python itself takes 100 levels of indentation, and 20 blocks of for and with inside of one another.
    levels = min(n, 90)
    lines = "".join(f"{'  ' * (i + 1)}if x.sum() > {i}:\n" for i in range(levels))
    return f"{HEAD}def f(x):\n{lines}{'  ' * (levels + 1)}x = x.cuda()\n" * max(n // 90, 1)


def nested_loops(n: int) -> str:
    levels = min(n, 19)
    lines = "".join(f"{'  ' * (i + 1)}for i{i} in range(9):\n" for i in range(levels))
    return f"{HEAD}def f(x, y):\n{lines}{'  ' * (levels + 1)}x, y = y.cuda(), x\n" * max(n // 19, 1)


def nested_functions(n: int) -> str:
    levels = min(n, 90)
    lines = "".join(f"{'  ' * i}def f{i}(x):\n" for i in range(levels))
    return f"{HEAD}{lines}{'  ' * levels}return x.cuda()\n"


def ring(n: int) -> str:
    return HEAD + "".join(f"def f{i}(x):\n    return f{(i + 1) % n}(x) + torch.ones(3)\n\n\n" for i in range(n))


def everyone_calls_everyone(n: int) -> str:
    some = max(int(math.sqrt(n)), 2)
    calls = " + ".join(f"f{i}(x)" for i in range(some))
    return HEAD + "".join(f"def f{i}(x):\n    return {calls}\n\n\n" for i in range(some))


def chain_of_methods(n: int) -> str:
    return HEAD + "class A:\n" + "".join(f"    def m{i}(self, x):\n        return self.m{i + 1}(x)\n" for i in range(n))


def deep_inheritance(n: int) -> str:
    classes = "".join(
        f"class C{i}(C{i - 1}):\n    def m{i}(self):\n        self.x = torch.ones({i})\n" for i in range(1, n)
    )
    return f"{HEAD}class C0(torch.nn.Module):\n    pass\n{classes}"


def one_sum(n: int) -> str:
    return f"{HEAD}x = {' + '.join(['torch.ones(3)'] * min(n, 1300))}\n"


def chained_calls(n: int) -> str:
    return f"{HEAD}x = torch.ones(3){'.cuda()' * min(n, 1900)}\n"


def brackets(n: int) -> str:
    return f"{HEAD}x = {'[' * min(n, 190)}{']' * min(n, 190)}\n" * max(n // 190, 1)


def list_of_numbers(n: int) -> str:
    return f"{HEAD}x = torch.tensor([{', '.join(map(str, range(n)))}])\n"


def dictionary(n: int) -> str:
    return f"{HEAD}x = {{{', '.join(f'{i}: torch.ones({i})' for i in range(n))}}}\ny = x[3].cuda() + x[4]\n"


def long_string(n: int) -> str:
    return f"{HEAD}x = '{'a' * n * 32}'\n"


def assignments(n: int) -> str:
    return HEAD + "".join(f"x{i} = torch.ones({i})\n" for i in range(n))


def one_name(n: int) -> str:
    return f"{HEAD}x = torch.ones(3)\n" + "x = x.cuda() + x\n" * n


def attributes(n: int) -> str:
    return f"{HEAD}class A:\n    def f(self):\n" + "".join(f"        self.a{i} = torch.ones({i})\n" for i in range(n))


def unpackings(n: int) -> str:
    names = ", ".join(f"a{i}" for i in range(n))
    return f"{HEAD}{names} = {names} = [torch.ones(3)] * {n}\n"


def suppressions(n: int) -> str:
    return HEAD + "x = 1  # noqa: DEV101\n" * n


def one_comment(n: int) -> str:
    return f"{HEAD}x = 1  {'# devlint: ignore[DEV101] ' * n}\n"


def comprehensions(n: int) -> str:
    return f"{HEAD}x = [i for i in y {' '.join(f'for i{i} in i' for i in range(min(n, 1500)))}]\n"


def keywords(n: int) -> str:
    names = ", ".join(f"a{i}=torch.ones({i})" for i in range(n))
    return f"{HEAD}def f(**given):\n    return given\n\n\nx = f({names})\n"


SHAPES: tuple[Callable[[int], str], ...] = (
    if_chain, if_after_if, nested_blocks, nested_loops, nested_functions, ring, everyone_calls_everyone,
    chain_of_methods, deep_inheritance, one_sum, chained_calls, brackets, list_of_numbers, dictionary, long_string,
    assignments, one_name, attributes, unpackings, suppressions, one_comment, comprehensions, keywords,
)  # fmt: skip


def star_imports(directory: Path, n: int) -> str:
    """A web of ``n`` modules each of which imports everything from every other."""
    some = max(int(math.sqrt(n)), 2)
    imports = "".join(f"from m{i} import *\n" for i in range(some))
    for i in range(some):
        (directory / f"m{i}.py").write_text(f"{HEAD}{imports}x{i} = torch.ones({i})\n")
    return f"{HEAD}{imports}y = x1.cuda() + x0\n"


def seconds(text: str, directory: Path) -> tuple[float, str]:
    """The processor time of one file, and why it was refused if it was."""
    task = FileTask(
        str(directory / "shape.py"), "shape.py", "shape.py", "shape.py", Gate(frozenset(all_codes())), text.encode()
    )
    started = time.process_time()
    (report,) = run([task], 1)
    taken = time.process_time() - started
    return taken, next((found.message for found in report.findings if found.code == UNREADABLE_FILE), "")


def curve(make: Callable[[int, Path], str], limit: float) -> Iterator[tuple[int, float, str]]:
    """Sizes, times and refusals, the size doubled twice each time."""
    size = 64
    while size <= LARGEST:
        with tempfile.TemporaryDirectory() as directory:
            (Path(directory) / "pyproject.toml").write_text("")
            taken, refusal = seconds(make(size, Path(directory)), Path(directory))
        yield size, taken, refusal
        if taken > limit or refusal:
            return
        size *= 4


def main(arguments: list[str]) -> None:
    limit = float(arguments[0]) if arguments else 5.0
    seconds("import torch\nx = torch.ones(3)\nx.cuda()\n", Path(tempfile.gettempdir()))  # what is imported once
    print("| shape | seconds by size | grows with |")
    print("| --- | --- | --- |")
    makers = {shape.__name__: lambda n, _, shape=shape: shape(n) for shape in SHAPES}
    for name, make in {**makers, "star_imports": lambda n, directory: star_imports(directory, n)}.items():
        points = list(curve(make, limit))
        told = ", ".join(f"{size:,}: {taken:.2f}" for size, taken, _ in points)
        told += f" ({points[-1][2]})" if points[-1][2] else ""
        exponent = ""
        if len(points) > 1 and not points[-1][2] and points[-2][1] > 0.02:
            exponent = f"n^{math.log(points[-1][1] / points[-2][1], points[-1][0] / points[-2][0]):.1f}"
        print(f"| {name.replace('_', ' ')} | {told} | {exponent} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
