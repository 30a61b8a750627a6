"""Whether a mutant truly fails: its class built and called as ``devlint confirm --auto`` does, on a simulated device.

A class is built that has the mutated function, or uses it. A mark is left when the function is entered; what is not
entered, or cannot be built without being told how, is not judged. What a run says of the code as released is no news of
the mutant. A written index names the very device that is simulated, and what is loaded was never saved on a GPU, so
mutants of these kinds cannot fail here and are not run. Libraries of the release that are not installed here are
replaced by stand-ins (``stand_ins``): what computes with one is not reached.
"""

from __future__ import annotations

import ast
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from planting.asking import Answer
from planting.mutant import Mutant
from planting.running import NOT_RUN, Ran, marked, write
from planting.source import File

from devlint.check import Request
from devlint.configuration.config import Overrides
from devlint.confirm import ConfirmRequest, confirm
from devlint.finding import VerdictState
from devlint.runtime.entries import Entry
from devlint.runtime.nursery import Nursery
from devlint.runtime.placements import Placement, Wish
from devlint.source.project import import_roots, module_name

_STAND_INS = Path(__file__).parent / "stand_ins"
_CLASSES = 2
"""Classes that are built for a mutant."""
_SECONDS = 60.0
"""For one run."""


def simulated(answers: Iterable[Answer], release: Path, limit: int) -> Iterator[Ran]:
    """At most ``limit`` of the answers' mutants that the building of a class may reach, run."""
    with tempfile.TemporaryDirectory(prefix="devlint-mutants-") as name, _with_stand_ins(), Nursery() as nursery:
        copy = Path(name) / release.name
        shutil.copytree(release, copy, copy_function=os.link)
        for answer in answers:
            entries = entries_of(answer.mutant, copy) if answer.mutant.kind not in NOT_RUN else []
            if entries and limit > 0:
                limit -= 1
                yield _run(answer, entries, copy, nursery)


@contextmanager
def _with_stand_ins() -> Iterator[None]:
    """Processes that are started meanwhile find libraries that are not installed."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(_STAND_INS), before)))
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


def entries_of(mutant: Mutant, release: Path) -> list[Entry]:
    """The class of the mutated method; of a function, the classes of its file and of its caller's that use it."""
    own, _, method = mutant.function.partition(".")
    found: list[Entry] = []
    for path in dict.fromkeys([mutant.path, *([mutant.caller] if mutant.caller else [])]):
        place = release / path
        roots = import_roots(place, ())
        module = module_name(place, roots)
        if module is None:
            continue
        names = [own] if method and path == mutant.path else using(own, place.read_bytes())
        found += [Entry("auto", f"{module}:{name}", root=str(roots[0])) for name in names]
    return found[:_CLASSES]


def using(function: str, source: bytes) -> list[str]:
    """The classes of a file that name a function, as it stands or after a module's name."""
    classes = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    return [node.name for node in classes if any(_names(one) == function for one in ast.walk(node))]


def _names(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _run(answer: Answer, entries: list[Entry], copy: Path, nursery: Nursery) -> Ran:
    mutant = answer.mutant
    place = copy / mutant.path
    released = place.read_bytes()
    file = File.of(mutant.path, released)
    assert file is not None
    mark = copy.parent / "entered"
    try:
        mark.unlink(missing_ok=True)
        write(place, marked(released, mutant.function, mark))
        before, why = _said(mutant, entries, copy, nursery)
        if not mark.exists():
            return Ran(answer, "not reached", why)
        write(place, marked(file.edited(mutant.edits), mutant.function, mark))
        after, _ = _said(mutant, entries, copy, nursery)
    finally:
        write(place, released)
    new = sorted(after - before)
    return Ran(answer, "fails", new[0]) if new else Ran(answer, "the same")


def _said(mutant: Mutant, entries: list[Entry], copy: Path, nursery: Nursery) -> tuple[frozenset[str], str]:
    """What a run confirms or finds by itself, and where it stops; and why nothing ran."""
    paths = tuple(dict.fromkeys([mutant.path, *([mutant.caller] if mutant.caller else [])]))
    check = Request(paths, copy, Overrides({}, None, isolated=True), jobs=1)
    request = ConfirmRequest(check, tuple(entries), Wish("sim"), placements=(Placement.FIRST,), timeout=_SECONDS)
    result, runs = confirm(request, nursery=nursery)
    seen = {
        f"{finding.code} {finding.place.path} {finding.scope}: {finding.message}"
        for finding in result.findings
        if finding.origin != "static"
        or (finding.verdict is not None and finding.verdict.state is VerdictState.CONFIRMED)
    }
    stopped = {f"{run.job.entry.name}: {run.reason}" for run in runs if run.device_error}
    return frozenset(seen | stopped), result.not_run
