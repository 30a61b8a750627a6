"""Files of units, and the driver that runs each."""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

from tests.benchmarks.generating.units import Unit, unit

_HEAD = "import math\n\nimport numpy as np\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
_DRIVER = """\
import torch

import {main} as main


def program(device):
    for number, (draws, run) in enumerate(({runs},)):
        for draw in range(draws):
            torch.manual_seed(1000 * draw + number)
            try:
                run(device)
            except Exception:
                pass
"""
_DRAWS = 3
"""Times that a unit is run which asks for values, with other random ones: it shall go both ways."""
_ASKS_FOR_VALUES = re.compile(r"\bif .*\.sum\(\) > 0:")


@dataclass(frozen=True)
class Batch:
    """Two files with units, and their driver. ``owners``: the unit of each line, by file (``main`` first)."""

    main: str
    apart: str
    driver: str
    owners: tuple[tuple[int, ...], tuple[int, ...]]
    units: tuple[Unit, ...]


def batch(rng: random.Random, name: str, count: int) -> Batch:
    """So many units that run on the CPU as they are."""
    taken: list[Unit] = []
    number = 0
    while len(taken) < count:
        one = unit(rng, number)
        if runs(one):
            taken.append(one)
        number += 1
    return of(tuple(taken), name)


def of(units: tuple[Unit, ...], name: str) -> Batch:
    """The files of these units."""
    imported = [word for one in units for word in one.imported]
    head = _HEAD + "".join(f"from {name}_apart import {word}\n" for word in imported)
    main, in_main = _joined(head, [one.lines for one in units])
    apart, in_apart = _joined(_HEAD, [one.apart for one in units])
    runs = [f"({_draws(one)}, {run})" for one in units for run in one.runs]
    driver = _DRIVER.format(main=f"{name}_main", runs=", ".join(runs))
    return Batch(main, apart, driver, (in_main, in_apart), units)


def _draws(one: Unit) -> int:
    return _DRAWS if any(map(_ASKS_FOR_VALUES.search, (*one.lines, *one.apart))) else 1


def _joined(head: str, parts: list[tuple[str, ...]]) -> tuple[str, tuple[int, ...]]:
    lines, owners = [*head.splitlines(), "", ""], []
    owners += [-1] * len(lines)
    for number, part in enumerate(parts):
        written = [line for text in part for line in text.splitlines() or [""]]
        lines += written
        owners += [number] * len(written)
    return "\n".join(lines) + "\n", tuple(owners)


def runs(one: Unit) -> bool:
    """Whether it comes to its end on the CPU, and is no generator's mistake."""
    import torch

    main = ModuleType("main")
    try:
        with torch.random.fork_rng(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.manual_seed(0)
            exec(compile("\n".join([_HEAD, *one.apart, *one.lines]), "<unit>", "exec"), main.__dict__)
            for run in one.runs:
                eval(run, {"main": main, "torch": torch})(torch.device("cpu"))
    except Exception:
        return False
    return True


def batches(seed: int, count: int, size: int) -> Iterator[tuple[str, Batch]]:
    """Names and batches, the same for the same seed."""
    for number in range(count):
        yield f"b{seed}_{number}", batch(random.Random(f"{seed} {number}"), f"b{seed}_{number}", size)
