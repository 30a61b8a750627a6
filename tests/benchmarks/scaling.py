"""How devlint's time grows with the number of files and with the length of one: both should grow in proportion."""

from __future__ import annotations

import itertools
import math
import shutil
from pathlib import Path

from speed_cases import DEVLINT, floor, python_files, torch_file
from timing import Case, Command, Sample, measure, median, median_ratio

_LINES_OF_ONE = 100


def print_scaling(scratch: Path, jobs: int, rounds: int, largest: int) -> None:
    counts = [count for count in (1, 10, 100, 1_000, 10_000) if count <= largest]
    print(f"\nscaling by files of {_LINES_OF_ONE} lines, all with torch; slope 1: in proportion")
    _print_rows("files", [(count, _many(scratch / f"files-{count}", count)) for count in counts], scratch, jobs, rounds)
    lengths = (100, 500, 1_000, 2_000, 5_000, 10_000, 20_000)
    print("\nscaling by the length of one file")
    _print_rows(
        "lines", [(length, _one(scratch / f"lines-{length}", length)) for length in lengths], scratch, jobs, rounds
    )


def _many(directory: Path, count: int) -> Path:
    directory.mkdir(exist_ok=True)
    text = torch_file(_LINES_OF_ONE)
    for number in range(count):
        package = directory / f"part_{number // 100}"
        package.mkdir(exist_ok=True)
        (package / "__init__.py").touch()
        (package / f"net_{number}.py").write_text(text.replace("Block", f"Block{number}_"))
    return directory


def _one(directory: Path, length: int) -> Path:
    directory.mkdir(exist_ok=True)
    (directory / "net.py").write_text(torch_file(length))
    return directory


def _print_rows(unit: str, sizes: list[tuple[int, Path]], scratch: Path, jobs: int, rounds: int) -> None:
    print(f"  {unit:>8} {'cold s':>8} {'cpu s':>8} {'slope':>6} {'of floor':>9} {'warm s':>8} {'slope':>6}")
    cold: list[tuple[int, float]] = []
    warm: list[tuple[int, float]] = []
    for size, directory in sizes:
        samples = _measured(directory, scratch / "scaling-cache", jobs, max(rounds if size < 1_000 else 1, 1))
        cold.append((size, median(samples["cold"], "cpu")))
        warm.append((size, median(samples["warm"], "wall")))
        print(
            f"  {size:8,} {median(samples['cold'], 'wall'):8.2f} {cold[-1][1]:8.2f} {_slope(cold):>6} "
            f"{median_ratio(samples['cold'], samples['floor'], 'cpu'):9.2f} {warm[-1][1]:8.2f} {_slope(warm):>6}"
        )
        shutil.rmtree(directory)


def _measured(directory: Path, cache: Path, jobs: int, rounds: int) -> dict[str, list[Sample]]:
    command = [*DEVLINT, "-j", str(jobs), "."]
    cached = Command([*command[:-1], "--cache-dir", str(cache), "."], directory)
    cases = [
        Case("floor", floor(directory, python_files(directory), jobs)),
        Case("cold", Command([*command, "--no-cache"], directory)),
        Case("filling", cached, lambda: shutil.rmtree(cache, ignore_errors=True)),
        Case("warm", cached),
    ]
    return measure(cases, rounds)


def _slope(points: list[tuple[int, float]]) -> str:
    """The exponent of growth between the last two points: of time by size, both as logarithms."""
    for (size, seconds), (larger, more) in itertools.pairwise(points[-2:]):
        return f"{math.log(more / seconds) / math.log(larger / size):.2f}"
    return ""
