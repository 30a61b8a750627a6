"""Whether a mutant truly fails: its class built and called as ``devlint confirm --auto`` does, on a simulated device.

A class is built that has the mutated function, or uses it. Where that does not enter the function, it is called itself,
with arguments found by trial (``stand_ins/planted_reaching.py``); then a result on the CPU is a failure too, where it
was on the device before. Of state, a method that reads it counts. A mark is left when the function is entered; what is
not entered, or cannot be built without being told how, is not judged. What a run says of the code as released is no
news of the mutant. A written index names the very device that is simulated, and what is loaded was never saved on a
GPU, so mutants of these kinds cannot fail here and are not run. Libraries of the release that are not installed here
are replaced by stand-ins (``stand_ins``): what computes with one is not reached.
"""

from __future__ import annotations

import ast
import json
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
_SECONDS = 40.0
"""For one run."""
_OF_STATE = frozenset({"unregister", "plain-list"})


def simulated(answers: Iterable[Answer], release: Path, limit: int, needs: Path | None = None) -> Iterator[Ran]:
    """At most ``limit`` of the answers' mutants, run. ``needs``: a directory of libraries that the release imports."""
    with (
        tempfile.TemporaryDirectory(prefix="devlint-mutants-") as name,
        _variables(Path(name) / "order.json", needs),
        Nursery() as nursery,
    ):
        copy = Path(name) / release.name
        shutil.copytree(release, copy, copy_function=os.link)
        for answer in answers:
            entries = entries_of(answer.mutant, copy) if answer.mutant.kind not in NOT_RUN else []
            if entries and limit > 0:
                limit -= 1
                yield _run(answer, entries, copy, nursery)


@contextmanager
def _variables(order: Path, needs: Path | None) -> Iterator[None]:
    """Processes that are started meanwhile find what the release needs, and stand-ins of what is not installed."""
    own = (str(_STAND_INS), os.environ.get("PYTHONPATH"), str(needs) if needs is not None else None)
    told = {"PYTHONPATH": os.pathsep.join(filter(None, own)), "PLANTED": str(order), "HF_HUB_OFFLINE": "1"}
    before = {name: os.environ.get(name) for name in told}
    os.environ.update(told)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def entries_of(mutant: Mutant, release: Path) -> list[Entry]:
    """The class of the mutated method; of a function, the classes of its file and of its caller's that use it. Then
    what calls the function itself."""
    own, _, method = mutant.function.partition(".")
    found: list[Entry] = []
    for path in dict.fromkeys([mutant.path, *([mutant.caller] if mutant.caller else [])]):
        place = release / path
        known = _module_of(release, place)
        if known is None:
            continue
        root, module = known
        names = [own] if method and path == mutant.path else using(own, place.read_bytes())
        found += [Entry("auto", f"{module}:{name}", root=root) for name in names]
    known = _module_of(release, release / mutant.path)
    return [*found[:_CLASSES], *([Entry("entry", "planted_reaching:entry", root=known[0])] if known else [])]


def _module_of(release: Path, place: Path) -> tuple[str, str] | None:
    """The directory from which a file is imported, and its dotted name. What was installed lies where it is imported
    from, so that a package without ``__init__.py`` is one too."""
    if any(release.glob("*.dist-info")):
        dotted = place.relative_to(release).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")
        return str(release), dotted
    roots = import_roots(place, ())
    module = module_name(place, roots)
    return None if module is None else (str(roots[0]), module)


def to_reach(mutant: Mutant, file: File) -> list[str]:
    """The functions of which one has to run: the mutated one, or those that read the state that it keeps."""
    spans = [span for span in mutant.original if span.path == file.path]
    named = [scope.qualname for span in spans for scope in file.scopes() if scope.first == span.first]
    others = [name for name in named if name != mutant.function]
    return others if others and mutant.kind in _OF_STATE else [mutant.function]


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
    functions = to_reach(mutant, file)
    known = _module_of(copy, place)
    places = copy.parent / "places"
    order = {"module": known[1] if known else "", "functions": functions, "mark": str(mark), "places": str(places)}
    (copy.parent / "order.json").write_text(json.dumps(order), encoding="utf-8")

    def planted(text: bytes) -> bytes:
        for function in functions:
            text = marked(text, function, mark)
        return text

    reached, why = False, ""
    try:
        for entry in entries:
            mark.unlink(missing_ok=True)
            places.unlink(missing_ok=True)
            write(place, planted(released))
            before, told = _said(mutant, entry, copy, nursery)
            why = told or why
            if not mark.exists():
                continue
            reached = True
            there = places.exists() and "cpu" not in places.read_text(encoding="utf-8").split()
            write(place, planted(file.edited(mutant.edits)))
            after, _ = _said(mutant, entry, copy, nursery)
            if there and "cpu" in places.read_text(encoding="utf-8").split():
                after |= {"its result is on the CPU"}
            if new := sorted(after - before):
                return Ran(answer, "fails", new[0])
    finally:
        write(place, released)
    return Ran(answer, "the same") if reached else Ran(answer, "not reached", why)


def _said(mutant: Mutant, entry: Entry, copy: Path, nursery: Nursery) -> tuple[frozenset[str], str]:
    """What a run confirms or finds by itself, and where it stops; and why nothing ran."""
    paths = tuple(dict.fromkeys([mutant.path, *([mutant.caller] if mutant.caller else [])]))
    check = Request(paths, copy, Overrides({}, None, isolated=True), jobs=1)
    request = ConfirmRequest(check, (entry,), Wish("sim"), placements=(Placement.FIRST,), timeout=_SECONDS)
    result, runs = confirm(request, nursery=nursery)
    seen = {
        f"{finding.code} {finding.place.path} {finding.scope}: {finding.message}"
        for finding in result.findings
        if finding.origin != "static"
        or (finding.verdict is not None and finding.verdict.state is VerdictState.CONFIRMED)
    }
    stopped = {f"{run.job.entry.name}: {run.reason}" for run in runs if run.device_error}
    return frozenset(seen | stopped), result.not_run
