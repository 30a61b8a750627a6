"""Two passes over a file: the first alone decides that nothing is said, the second says what one would say alone."""

from __future__ import annotations

import contextlib
import gc
import itertools
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import libcst as cst
import pytest

from devlint.configuration.codes import all_codes
from devlint.finding import Finding
from devlint.pipeline.earlier_uses import EarlierUses
from devlint.pipeline.file_report import analyse_file
from devlint.pipeline.lint_result import LintResult
from devlint.pipeline.path_symbols import symbolic
from devlint.pipeline.stages import first_pass as bare_pass
from devlint.pipeline.stages import second_pass as second
from devlint.pipeline.stages.first_pass import FindingScopes, first_pass
from devlint.pipeline.stages.parsing import parse
from devlint.pipeline.stages.second_pass import second_pass
from devlint.pipeline.task import FileTask, Gate
from devlint.pipeline.workspaces import Workspaces
from devlint.placement.declarations import evidence_uses
from devlint.placement.declarations.evidence_grades import Uses
from devlint.placement.declarations.imports import ImportTable
from devlint.placement.syntax.nodes import FunctionNode
from devlint.source.bare import nodes as bare
from devlint.source.bare.nodes import NeedsLayout
from devlint.source.tree import WorkingTree
from tests.cache.edits import edited
from tests.fixture_expectations import FIXTURES
from tests.thoroughness import chosen

CLEAN = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        return x + torch.ones(3, device=x.device)
"""
FLAGGED = CLEAN.replace(", device=x.device", "")


def task(path: Path) -> FileTask:
    return FileTask(str(path), path.name, path.name, path.name, Gate(frozenset(all_codes())))


def lint_text(text: str, task: FileTask) -> LintResult:
    parsed, workspaces = parse(text, task.in_project), Workspaces(task, WorkingTree(), None)
    return second_pass(parsed, first_pass(parsed, task, workspaces), task, workspaces)


def refuse(*_: object) -> FindingScopes:
    raise NeedsLayout


def test_the_passes_say_what_libcst_alone_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of the fixtures; tests/benchmarks/pinned.py compares all of them, and releases."""
    flagged = 0
    for path in sorted(FIXTURES.rglob("*.py"))[:: chosen(gate=6, search=3)]:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        both = lint_text(text, task(path))
        with monkeypatch.context() as alone:
            alone.setattr(bare_pass, "_scopes_in_bare_trees", refuse)
            assert lint_text(text, task(path)) == both, path
        flagged += bool(both.findings)
    assert flagged > 50


def test_nothing_reads_a_field_that_bare_nodes_lack(monkeypatch: pytest.MonkeyPatch) -> None:
    """LibCST would read each file whole in which that happens, which costs four times as much."""
    lacking: list[str] = []

    @contextlib.contextmanager
    def reading() -> Iterator[None]:
        try:
            yield
        except AttributeError as error:
            lacking.append(f"{path.name}: {error}")
            raise NeedsLayout from error

    monkeypatch.setattr(bare, "reading_bare_nodes", reading)
    for path in sorted(FIXTURES.rglob("*.py")):
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        parsed, workspaces = parse(text, path.name), Workspaces(task(path), WorkingTree(), None)
        first_pass(parsed, task(path), workspaces)
    assert lacking == []


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that LibCST is asked for."""
    texts: list[str] = []
    parse = cst.parse_module

    def noted(text: str) -> cst.Module:
        texts.append(text)
        return parse(text)

    monkeypatch.setattr(cst, "parse_module", noted)
    return texts


def codes(text: str, file: Path) -> list[str]:
    file.write_text(text)
    return [finding.code for finding in lint_text(text, task(file)).findings]


def test_what_has_nothing_to_say_is_never_read_by_libcst(tmp_path: Path, parsed: list[str]) -> None:
    assert codes(CLEAN, tmp_path / "net.py") == []
    assert parsed == []
    assert codes(FLAGGED, tmp_path / "net.py") == ["DEV101"]
    assert parsed != []


def test_only_definitions_that_are_spoken_of_are_read_by_libcst(tmp_path: Path, parsed: list[str]) -> None:
    text = FLAGGED + "\n\ndef other(y):\n    return y * torch.pi\n"
    assert codes(text, tmp_path / "net.py") == ["DEV101"]
    assert any("torch.ones" in part for part in parsed)
    assert not any("torch.pi" in part for part in parsed)


def test_what_is_outside_of_definitions_is_read_by_libcst_if_it_is_spoken_of(tmp_path: Path, parsed: list[str]) -> None:
    scale, place = "SCALE = torch.pi\n", 'PLACE = torch.device("cuda:x")\n'
    assert codes(FLAGGED + scale, tmp_path / "net.py") == ["DEV101"]
    assert not any("torch.pi" in part for part in parsed)
    parsed.clear()
    assert codes(CLEAN + scale + place, tmp_path / "net.py") == ["DEV309"]
    assert any("torch.pi" in part for part in parsed)
    assert not any("torch.ones" in part for part in parsed)


def test_a_file_that_libcst_refuses_is_no_python_where_it_is_spoken_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(_: str) -> cst.Module:
        raise AssertionError("LibCST was asked")

    monkeypatch.setattr(cst, "parse_module", refuses)
    text = 'import torch\n\nPLACE = torch.device("cuda:x")\n'
    net = tmp_path / "net.py"
    net.write_text(text)
    refusal = lint_text(text, task(net)).refusal
    assert refusal is not None
    assert "LibCST was asked" in refusal.message


def test_a_rule_that_asks_for_layout_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from devlint.rules.creating.creation_without_device import CreationWithoutDevice

    claim = CreationWithoutDevice.claim

    def curious(rule: CreationWithoutDevice, event: object) -> object:
        assert event.node.rpar is not None  # type: ignore[attr-defined]
        return claim(rule, event)  # type: ignore[arg-type]

    net = tmp_path / "net.py"
    net.write_text(FLAGGED)
    expected = lint_text(FLAGGED, task(net))
    monkeypatch.setattr(CreationWithoutDevice, "claim", curious)
    assert expected.findings
    assert lint_text(FLAGGED, task(net)) == expected


@pytest.mark.parametrize(
    "slip",
    [lambda event: event.node.valeu, lambda event: event.noed, lambda event: None.rpar],  # type: ignore[attr-defined]
    ids=["no field of the node", "no field of the event", "a field of nodes on something else"],
)
def test_a_slip_in_a_rule_is_an_internal_error_and_no_silence(
    slip: Callable[[object], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from devlint.rules.creating.creation_without_device import CreationWithoutDevice

    monkeypatch.setattr(CreationWithoutDevice, "claim", lambda rule, event: slip(event))
    net = tmp_path / "net.py"
    net.write_text(FLAGGED)
    with pytest.raises(AttributeError):
        lint_text(FLAGGED, task(net))
    (finding,) = analyse_file(task(net)).findings
    assert finding.code == "DEV902"
    assert "AttributeError" in finding.message
    assert "at test_two_pass.py:" in finding.message


@pytest.mark.parametrize("text", [CLEAN, FLAGGED])
def test_no_tree_waits_for_the_collector(text: str, tmp_path: Path) -> None:
    net = tmp_path / "net.py"
    codes(text, net)
    gc.collect()
    codes(text, net)
    assert gc.collect() < 50, "the trees of either text are more objects than that"


def test_where_findings_are_likely_makes_no_difference() -> None:
    """Guesses that are right, that are wrong, and that are too many: what is found is the same."""
    for path in sorted(FIXTURES.rglob("*.py"))[1 :: chosen(gate=12, search=6)]:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        expected = lint_text(text, task(path))
        every = frozenset(re.findall(r"^ *(?:def|class) (\w+)", text, re.M))
        for likely in (expected.scopes, every | {""}, frozenset({"nowhere"})):
            found = lint_text(text, replace(task(path), likely=likely)) if likely else expected
            assert found == expected, (path, likely)
            # What a comment excuses is seen where there is layout alone. A file that bare trees do not tell of is read
            # as a whole, without its scopes, unless the guess has the very scope that needs its layout.
            told = bool(expected.scopes) or not expected.findings
            assert not told or found.scopes <= expected.scopes, (path, likely)


def test_a_right_guess_saves_the_second_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    net = tmp_path / "net.py"
    net.write_text(FLAGGED)
    expected = lint_text(FLAGGED, task(net))
    assert expected.scopes == {"Net.forward"}
    again = "# moved\n" + FLAGGED.replace("(3,", "(4,")
    fresh = lint_text(again, task(net))
    monkeypatch.setattr(second, "_findings", lambda *_: pytest.fail("a second pass"))
    found = lint_text(again, replace(task(net), likely=expected.scopes))
    assert found == fresh
    assert [finding.place.line for finding in found.findings] == [8]


def test_what_an_earlier_text_showed_makes_no_difference() -> None:
    """One text after the other with the same memory: the same again, parts of others, and edits of each."""
    memory, draw, given = EarlierUses(), random.Random(7), 0
    paths = sorted(FIXTURES.rglob("*.py"))[2 :: chosen(gate=100, search=50)]
    for path, other in itertools.pairwise(paths):
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        joined = other.read_text(encoding="utf-8", errors="surrogateescape") + "\n\n" + text
        texts = [text, text, *([edited(text, draw)] if parse(text, path.name).tree is not None else []), joined, text]
        for one in texts:
            expected = lint_text(one, task(path))
            for likely in (frozenset[str](), expected.scopes):
                found = lint_text(one, replace(task(path), uses=memory, likely=likely))
                assert found == expected, (path, one)
        given += bool(memory._by_text)
    assert given > len(paths) / 2


def test_a_definition_that_stands_in_the_earlier_text_is_not_gathered_again(monkeypatch: pytest.MonkeyPatch) -> None:
    gathered: list[str] = []
    gather = evidence_uses.uses_of

    def watched(node: FunctionNode, imports: ImportTable) -> Uses:
        assert isinstance(node, cst.FunctionDef)
        gathered.append(node.name.value)
        return gather(node, imports)

    monkeypatch.setattr(evidence_uses, "uses_of", watched)
    text = "import torch\n\n\ndef one(x):\n    return x + 1\n\n\ndef two(x):\n    return torch.relu(x)\n"
    asked = replace(task(Path("net.py")), uses=EarlierUses())
    lint_text(text, asked)
    assert sorted(gathered) == ["one", "two"]
    gathered.clear()
    lint_text("# moved\n" + text.replace("x + 1", "x + 2"), asked)
    assert gathered == ["one"]
    gathered.clear()
    lint_text(text.replace("import torch", "import torch as t"), asked)
    assert sorted(gathered) == ["one", "two"], "what names stand for is another"


@pytest.fixture
def analysed_again(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are analysed a second time, by LibCST's trees."""
    files: list[str] = []
    find = second._findings

    def noted(*given: Any) -> tuple[Finding, ...]:
        files.append(given[4].shown_as)
        return find(*given)

    monkeypatch.setattr(second, "_findings", noted)
    return files


IGNORED = "import torch\n\n\ndef table(count, device):\n    {}return torch.zeros(count).cuda()\n"
CHOSEN = 'import torch\n\n\ndef place(asked):\n    return torch.device({} if torch.cuda.is_available() else "cpu")\n'
BODY_CHOOSES = """

def place(x, device=torch.device("cuda" if torch.cuda.is_available() else "cpu")):
    \"\"\"Moves it.\"\"\"
    return x.to(device)
"""


@pytest.mark.parametrize(
    ("text", "expected", "again"),
    [
        (FLAGGED, ["DEV101"], False),
        (FLAGGED.replace("x + ", "x+"), ["DEV101"], False),  # an expression that is quoted is written otherwise
        (FLAGGED.replace("return x + ", "x+torch.ones(3)\n        return x + "), ["DEV101"] * 2, True),  # in two ways
        (FLAGGED.replace("return x + ", "y=x+1\n        return x + "), ["DEV101"], False),  # it is not quoted
        (FLAGGED.replace("return x", "if x.ndim: print(); x = 2 * x\n        return x"), ["DEV101"], False),
        (FLAGGED.replace("return x", 'print("one " "word")\n        return x'), ["DEV101"], False),
        (FLAGGED + 'PLACE = torch.device("cuda:x")\n', ["DEV101", "DEV309"], False),
        (IGNORED.format(""), ["DEV308"], False),
        (IGNORED.format("# device: not used\n    "), [], False),  # a comment says so
        (CHOSEN.format('asked or "cuda"'), ["DEV308"], False),
        (CHOSEN.format('(asked or "cuda")'), [], False),  # parentheses say so
        (FLAGGED + BODY_CHOOSES, ["DEV101"], False),  # the repair of a signature is one of the body
    ],
)
def test_a_file_is_analysed_a_second_time_only_where_its_layout_may_say_something_else(
    text: str,
    expected: list[str],
    again: bool,
    analysed_again: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    net = tmp_path / "net.py"
    found = codes(text, net)
    assert [code for code in found if code in ("DEV101", "DEV308", "DEV309")] == expected
    assert bool(analysed_again) == again
    once = lint_text(text, task(net))
    monkeypatch.setattr(second, "_placed", lambda *_: None)
    assert lint_text(text, task(net)) == once


def test_findings_beside_a_guess_need_no_second_analysis(analysed_again: list[str], tmp_path: Path) -> None:
    """One definition is read with its layout from the beginning, a finding in another one is new."""
    net = tmp_path / "net.py"
    text = FLAGGED + "\n    def other(self, x):\n        return x * torch.ones(4)\n"
    net.write_text(text)
    found = lint_text(text, replace(task(net), likely=frozenset({"Net.forward"})))
    assert [finding.place.line for finding in found.findings] == [7, 10]
    assert analysed_again == []
    assert found == lint_text(text, task(net))


MASKS = """\
import torch

SCALES = {'rows': torch.ones(3)}


class Masks:
    def of(self, kind):
        mask = (torch.ones(3)*2)
        return mask


def helper(sizes):
    scale = SCALES ['rows']
    return (torch.zeros(sizes ['rows']) + scale)
"""
CALLER = """\
import torch
from torch import nn
from masks import Masks, helper


class Net(nn.Module):
    def forward(self, x, sizes):
        x = x * Masks().of(1)
        return x + helper(sizes)
"""


def test_a_trace_through_another_file_needs_no_second_analysis(
    analysed_again: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "masks.py").write_text(MASKS)
    net = tmp_path / "net.py"
    net.write_text(CALLER)
    about = symbolic(task(net))
    found = lint_text(CALLER, about)
    places = {(step.place.path, step.place.line) for finding in found.findings for step in finding.trace}
    assert {("\0masks.py\0", 8), ("\0masks.py\0", 14)} <= places
    assert analysed_again == []
    monkeypatch.setattr(second, "_placed", lambda *_: None)
    assert lint_text(CALLER, about) == found
    assert analysed_again == ["\0net.py\0"]


def test_projects_are_told_the_same_with_and_without_a_second_analysis(monkeypatch: pytest.MonkeyPatch) -> None:
    through_others = 0
    for path in sorted((FIXTURES / "projects").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        about = symbolic(replace(task(path), in_project=str(path.relative_to(FIXTURES))))
        found = lint_text(text, about)
        with monkeypatch.context() as alone:
            alone.setattr(second, "_placed", lambda *_: None)
            assert lint_text(text, about) == found, path
        others = {step.place.path for finding in found.findings for step in finding.trace} - {about.shown_as}
        through_others += bool(others)
    assert through_others > 5
