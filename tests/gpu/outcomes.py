"""What becomes of each program of fixtures/seeds, run as it is on one machine: ``python -m tests.gpu.outcomes cuda``.

Needs torch and the standard library alone. Every program runs in a process of its own, forked before CUDA is touched.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).parents[2] / "fixtures"
ENTRIES = FIXTURES / "entries" / "seeds.py"

FAILS = {
    "01_initial_hidden_state": "device_mismatch",
    "02_target_left_behind": "device_mismatch",
    "02_target_left_behind_guarded": "device_mismatch",
    "05_aliases_and_legacy_types": "device_mismatch",
    "05_aliases_default_type": "device_mismatch",
    "12_data_parallel": "device_mismatch",
    "entries.unregistered_parts": "device_mismatch",
    "entries.registered_parts": "device_mismatch",
    "entries.refused_by_the_constructor": "bad_device",
    "entries.still_on_the_cpu": "device_mismatch",
    "entries.apart": "device_mismatch",
}
"""Programs that cannot run to their end on a machine with two cards, and the category of the error."""

NEED_TWO = {
    "04_parameters_on_two_cards",
    "04_parameters_on_two_cards_unmoved",
    "12_data_parallel",
    "entries.unregistered_parts",
    "entries.registered_parts",
    "entries.made_on_the_second_device",
}
"""Programs that name a second card, which one with a single card refuses: "device_unavailable"."""

_NOT_ALONE = ("06_", "12_distributed_worker")
"""Seeds about a variable that hides devices from their whole process, and one that a launcher starts."""


def predicted(count: int) -> dict[str, str]:
    """For each program the category of its error, empty for none, on a machine with so many cards."""
    missing = NEED_TWO if count < 2 else set()
    return {name: "device_unavailable" if name in missing else FAILS.get(name, "") for name in programs()}


def programs() -> list[str]:
    """Seeds that can be started by a function of theirs, and what fixtures/entries adds to them."""
    seeds = sorted((FIXTURES / "seeds").glob("*.py"))
    return [
        *(p.stem for p in seeds if {"build", "main"} & set(_functions(p)) and not p.stem.startswith(_NOT_ALONE)),
        *(f"entries.{name}" for name in _functions(ENTRIES) if not name.startswith("_")),
    ]


def _functions(path: Path) -> list[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]


def outcome(machine: str, count: int, name: str) -> dict[str, Any]:
    """Whether a program raises, and what kind of error its text is."""
    import torch

    from devlint.runtime.entries import built as entry
    from devlint.runtime.program import built
    from devlint.runtime.simulated import simulate
    from devlint.semantics import classify

    _, _, function = name.partition("entries.")
    start = "build" if function or "build" in _functions(FIXTURES / "seeds" / f"{name}.py") else "main"
    target = f"entries.seeds:{function}" if function else f"seeds.{name}:{start}"
    with simulate(count) if machine == "sim" else nullcontext():
        try:
            program = built(entry(target), "cuda:0")
            if not program.is_step:
                program.model.to("cuda:0")  # type: ignore[attr-defined]
                program.model(*(arg.to("cuda:0") for arg in program.args))
            else:
                program.forward()
            torch.cuda.synchronize()
        except Exception as error:
            found = classify(str(error))
            kind, category = (found.kind, found.category) if found else ("", "")
            return {"error": type(error).__name__, "text": str(error)[:300], "kind": kind, "category": category}
    return {"error": "", "text": "", "kind": "", "category": ""}


def outcomes(machine: str, count: int) -> dict[str, dict[str, Any]]:
    """Each program's outcome on ``cuda`` or ``sim``, all of them run by another process."""
    rows, said = rows_of("tests.gpu.outcomes", machine, str(count))
    if rows.keys() != set(programs()):
        raise RuntimeError(f"not all programs were run:\n{said}")
    return rows


def rows_of(module: str, *arguments: str) -> tuple[dict[str, dict[str, Any]], str]:
    """What another process tells of each program, by its name, and the end of its other words."""
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, cwd=FIXTURES.parent, capture_output=True, text=True, check=False)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"program"')]
    return {row["program"]: row for row in rows}, done.stderr[-2000:]


def main(machine: str, count: int) -> None:
    sys.path[:0] = [str(FIXTURES)]
    import torch._dynamo  # noqa: F401 - shared by all children

    os.chdir(tempfile.mkdtemp())
    (Path() / "seeds").symlink_to(FIXTURES / "seeds")
    for name in programs():
        status = forked(name, lambda: outcome(machine, count, name))  # noqa: B023 - called before it returns
        if status:
            tell({"program": name, "error": "died", "text": str(status), "kind": "", "category": ""})


def forked(name: str, outcome: Callable[[], dict[str, Any]]) -> int:
    """Tell of a program by a process of its own, which alone touches CUDA; the exit code of one that died, or 0."""
    child = os.fork()
    if not child:
        sys.argv = [name]
        tell({"program": name, **outcome()})
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def tell(row: dict[str, Any]) -> None:
    os.write(1, (json.dumps(row) + "\n").encode())


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
