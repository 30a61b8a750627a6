"""One run of a project's tests under ``pytest --devlint``, and what it came to."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from own_tests.choosing import Spot, module_of
from own_tests.projects import Project

PLUGIN = Path(__file__).parent / "plugin"
DEVLINT = Path(__file__).parents[3]
FAKED = PLUGIN.parents[1] / "example_scripts" / "faked"
GRACE = 300.0
"""Seconds by the clock that a run may take longer than its tests are given of the processor."""
ENOUGH = 30
"""Tests that come to the line in a lifted call. One is given arrays, and the next one tensors."""

_OTHER_KINDS = ("mps", "xpu")
PLACEMENTS = ("together", "split", "stay", "data", "default", "results", *_OTHER_KINDS)
"""Where users have their tensors, in the order in which it is tried: all of a call on the accelerator; what the project
says it reckons with, models that are split (``--devlint-placement split``) and what users do not move
(``devlint_stay``); the others of ``--devlint-placement``; and together on an accelerator of another kind than CUDA."""

FEW = 3
"""The least that are asked for."""


@dataclass(frozen=True)
class SuiteRun:
    """What the tests of one tree came to at one spot."""

    tests: tuple[str, ...]
    """The files that ran."""
    ran: int
    """Tests that came to the line, lifted or not, and pass."""
    lifted: int
    """Tests that came there in a lifted call, and pass when they run without."""
    broken: int
    """Tests that came there and fail by themselves: the program does not run on this torch."""
    passed: int
    failed: int
    findings: tuple[dict[str, Any], ...]
    trouble: str
    """Why there is no result; empty where there is one."""
    said: str
    """The end of what pytest said."""
    at: dict[str, list[int]] = field(default_factory=dict)
    """How many tests came to each line, ``PATH:LINE``, and how many in a lifted call."""

    def record(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, record: dict[str, Any]) -> SuiteRun:
        return cls(**record | {"tests": tuple(record["tests"]), "findings": tuple(record["findings"])})


@dataclass(frozen=True)
class Watched:
    """The lines that a run tells of, what is lifted, and when it has told enough."""

    lines: dict[str, list[int]]
    """By the path of their file in the tree."""
    lifts: tuple[str, ...]
    """As in ``devlint_lift``, unless the project names others."""
    words: tuple[str, ...] = ()
    """Tests with these in their names come first."""
    enough: int = sys.maxsize
    """Tests that come to a line in a lifted call."""


def run_tests(
    forks: Forks,
    project: Project,
    python: Path,
    tree: Path,
    path: str,
    spot: Spot,
    tests: list[str],
    beside: list[Path],
    device: str,
    seconds: float,
    enough: int,
    placement: str = PLACEMENTS[0],
) -> SuiteRun:
    """The tests of some files, until enough came to the spot; lifted is what the package of its file defines."""
    words = (*spot.within.split("."), *spot.names, Path(path).stem)
    watched = Watched(
        {path: sorted(spot.fault)},
        (f"{module_of(path, project.sources).partition('.')[0]}.*",),
        tuple(word for word in words if word and word[:2] != "__"),
        enough,
    )
    return run_watched(forks, project, python, tree, watched, tests, beside, device, seconds, placement)


def run_watched(
    forks: Forks,
    project: Project,
    python: Path,
    tree: Path,
    watched: Watched,
    tests: list[str],
    beside: list[Path],
    device: str,
    seconds: float,
    placement: str = PLACEMENTS[0],
) -> SuiteRun:
    """Some tests, with the calls of modules, and of all that the package defines, lifted to ``device``."""
    with tempfile.TemporaryDirectory(prefix="own-tests-") as scratch:
        place = Path(scratch)
        told = {
            "watched": {str(tree / path): lines for path, lines in watched.lines.items()},
            "names": [project.name.lower()],
            "absent": list(project.absent),
            "words": list(watched.words),
            "seconds": seconds,
            "enough": watched.enough,
            "out": str(place / "reached.json"),
        }
        (place / "told.json").write_text(json.dumps(told), "utf-8")
        report = place / "report.json"
        lifts = "\n".join(project.lift or watched.lifts)
        arguments = [
            "-q", "--tb=line", "-p", "no:cacheprovider",
            "-p", "devlint_reaching", "-o", "addopts=", "-o", "filterwarnings=", f"--rootdir={tree}", "-W", "ignore",
            "--continue-on-collection-errors",
            "--devlint", "--devlint-warn", f"--devlint-device={device}", f"--devlint-report={report}",
            "-o", f"devlint_lift={lifts}", *_placed(project, placement), *project.options, *tests,
        ]  # fmt: skip
        paths = [*(str(tree / source) for source in project.sources), *map(str, beside), str(PLUGIN), str(DEVLINT)]
        if project.faked:
            paths.append(str(FAKED))
        said, trouble = forks.run(
            python,
            {
                "cwd": str(tree),
                "path": paths,
                "environment": _environment(paths, place),
                "arguments": arguments,
                "said": str(place / "said.txt"),
                "seconds": seconds + GRACE,
            },
        )
        reached = _json_of(place / "reached.json")
        document = _json_of(report)
    if reached is None or document is None:
        trouble = trouble or _complaint(said)
    else:
        trouble = ""  # a process that hangs when all is done has told all
    if not trouble and reached is not None and not reached["passed"] + len(reached["broken"]) + reached["skipped"]:
        trouble = _complaint(said)
    reached, document = (
        reached or {"ran": [], "lifted": [], "broken": [], "passed": 0, "failed": 0},
        document or {"findings": []},
    )
    return SuiteRun(
        tuple(tests),
        len(set(reached["ran"]) - set(reached["broken"])),
        len(set(reached["lifted"]) - set(reached["broken"])),
        len(reached["broken"]),
        reached["passed"],
        reached["failed"],
        tuple(document["findings"]),
        trouble,
        said[-6000:],
        {os.path.relpath(at, os.path.realpath(tree)): told for at, told in reached.get("at", {}).items()},
    )


def _placed(project: Project, placement: str) -> list[str]:
    if placement == "stay":
        return ["-o", "devlint_stay=" + "\n".join(project.stay)]
    if placement in _OTHER_KINDS:
        return [f"--devlint-device=sim-{placement}"]
    return [] if placement == PLACEMENTS[0] else ["--devlint-placement", placement]


def _environment(paths: list[str], place: Path) -> dict[str, str]:
    return {
        "PYTHONPATH": os.pathsep.join(paths),
        "DEVLINT_REACHING": str(place / "told.json"),
        "HOME": str(place),
        "MPLBACKEND": "agg",
        "WANDB_MODE": "disabled",
        "HF_HUB_OFFLINE": "1",
    }


class Forks:
    """A process for each interpreter that forks runs of tests off itself; closed with the ``with`` statement."""

    def __init__(self) -> None:
        self._processes: dict[Path, subprocess.Popen[str]] = {}

    def __enter__(self) -> Forks:
        return self

    def __exit__(self, *error: object) -> None:
        for process in self._processes.values():
            process.kill()
            process.wait()

    def run(self, python: Path, told: dict[str, Any]) -> tuple[str, str]:
        """What a run said, and why it was ended."""
        process = self._processes.get(python)
        if process is None or process.poll() is not None:
            process = self._processes[python] = self._started(python)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(told) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        file = Path(told["said"])
        said = file.read_text("utf-8", "replace") if file.exists() else ""
        ended = bool(answer) and json.loads(answer)["ended"]
        return said, "" if ended else f"took more than {told['seconds']:.0f} s"

    def _started(self, python: Path) -> subprocess.Popen[str]:
        paths = os.pathsep.join([str(PLUGIN), str(DEVLINT)])
        steady = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "MPLBACKEND": "agg"}
        return subprocess.Popen(
            [str(python), str(PLUGIN / "devlint_forking.py")], env={**os.environ, **steady, "PYTHONPATH": paths},
            text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip


def _json_of(file: Path) -> Any:
    try:
        return json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return None


def _complaint(said: str) -> str:
    """Why nothing ran: the last error that pytest shows."""
    errors = re.findall(r"^(?:E +)?((?:\w+\.)*\w*(?:Error|Exception|Exit)\b.*)$", said, re.M)
    lines = said.strip().splitlines()
    return (errors[-1] if errors else lines[-1] if lines else "pytest said nothing")[:200]
