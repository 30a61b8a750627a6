"""What becomes of each program of fixtures/around on one machine: ``python -m tests.gpu.around cuda``.

Every program runs in a process of its own, forked before CUDA is touched. The lines that clash are marked in them.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable
from typing import Any

from tests.gpu.outcomes import forked, rows_of, tell

TWO_CARDS = {"accelerator", "data_parallel", "data_parallel_wrong", "events", "saved"}
"""Programs that name a second card."""

SIMULATED_ALONE = {"exported": "its mark says that export is not simulated; a real device has nothing to say"}


def outcome(machine: str, program: Callable[[], Any]) -> dict[str, Any]:
    """Marked lines that no observation of something wrong touches, and what was told of a program without marks."""
    from devlint.runtime.observation import Observation
    from devlint.runtime.real import RealMachine
    from devlint.runtime.session import observe
    from devlint.runtime.simulated import SimulatedMachine
    from tests.runtime.test_around import WRONG, lines_of, marked

    found: list[Observation] = []
    expected, error = marked(program), ""
    chosen = RealMachine("cuda") if machine == "cuda" else SimulatedMachine()
    with warnings.catch_warnings(), observe(chosen, found.append, device="cuda:0") as session:
        warnings.simplefilter("ignore")
        try:
            program()
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}" if not expected else ""
            session.failed(raised)
    wrong = [each for each in found if each.kind in WRONG]
    seen = {line for each in wrong for line in lines_of(each, inspect.getfile(program))}
    told = [] if expected else [f"{each.kind}: {each.message}" for each in wrong]
    return {"unseen": sorted(expected - seen), "told": told, "error": error}


def outcomes(machine: str) -> dict[str, dict[str, Any]]:
    """Each program's outcome on ``cuda`` or ``sim``, all of them run by another process."""
    rows, said = rows_of("tests.gpu.around", machine)
    if not rows:
        raise RuntimeError(f"nothing was run:\n{said}")
    return rows


def main(machine: str) -> None:
    from tests.runtime.test_around import PROGRAMS

    for program in PROGRAMS:
        status = forked(program.__name__, lambda: outcome(machine, program))  # noqa: B023 - called before it returns
        if status:
            tell({"program": program.__name__, "unseen": [], "told": [], "error": f"died: {status}"})


if __name__ == "__main__":
    main(sys.argv[1])
