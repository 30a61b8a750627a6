"""Bugs of released packages, as ``fixtures/found`` tells of them: each program is confirmed on a simulated accelerator,
says what the run says, and is clean after its repair.

``python -m tests.fixes.test_found`` writes the table of them anew.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.cli.conftest import environment
from tests.fixture_expectations import FIXTURES, expectations_of, fixtures_of

TABLE = FIXTURES / "found" / "README.md"
HEAD = """\
# Bugs in released packages

Each program here has the shape of code that stands in a release on PyPI, with the bug that devlint found there. A run
on a simulated accelerator confirms it, and says nothing more after the repair that its docstring proposes:

```sh
cd fixtures
devlint confirm --entry proofs.found:torch_geometric_ppr --device sim:0 found/torch_geometric_ppr.py
```

The docstrings say what a report to the package needs. `python -m tests.fixes.test_found` writes this table from them.

| package | version | place | code | what happens | program |
| --- | --- | --- | --- | --- | --- |
"""

_HEAD = re.compile(r"(?P<package>\S+) (?P<version>\S+), (?P<place>\S+:\d+), (?P<where>\S+): (?P<what>.+)\.")
_REPAIR = re.compile(r"`(?P<old>.+)` -> `(?P<new>.+)`")


@dataclass(frozen=True)
class Program:
    """One bug: where it stands, what a run says of it, and its repair."""

    name: str
    text: str
    package: str
    version: str
    place: str
    what: str
    said: tuple[str, ...]
    repairs: tuple[tuple[str, str], ...]

    @property
    def codes(self) -> frozenset[tuple[int, str]]:
        return expectations_of(FIXTURES / "found" / f"{self.name}.py", self.text).expected

    @property
    def repaired(self) -> str:
        docstring, code = _halves(self.text)
        for old, new in self.repairs:
            assert code.count(old) == 1, f"{self.name}: `{old}` stands {code.count(old)} times in the program"
            code = code.replace(old, new)
        return docstring + code


def _halves(text: str) -> tuple[str, str]:
    end = text.index('"""', 3) + 3
    return text[:end], text[end:]


def read(path: Path) -> Program:
    """Read from the docstring: the place and the bug, how it is met, and the lines of the run and of the repair."""
    text = path.read_text("utf-8")
    parts = _halves(text)[0].strip('"').strip().split("\n\n")
    assert len(parts) == 3, f"{path.name}: the docstring has a head, what a user does, and what a run says"
    head = _HEAD.fullmatch(_joined(parts[0]))
    assert head is not None, f"{path.name}: cannot read {parts[0]!r}"
    fields = [_joined(field) for field in re.split(r"\n(?! )", parts[2])]
    repairs = [_REPAIR.fullmatch(field.removeprefix("Repair: ")) for field in fields if field.startswith("Repair: ")]
    return Program(
        path.stem,
        text,
        head["package"],
        head["version"],
        head["place"],
        head["what"],
        tuple(field.removeprefix("A run says: ") for field in fields if field.startswith("A run says: ")),
        tuple((repair["old"], repair["new"]) for repair in repairs if repair is not None),
    )


def _joined(text: str) -> str:
    return " ".join(line.strip() for line in text.split("\n"))


def programs() -> dict[str, Program]:
    return {path.stem: read(path) for path in fixtures_of("found")}


def table() -> str:
    """What the folder's README says."""
    rows = sorted(programs().values(), key=lambda one: (one.package, one.place))
    lines = [
        f"| {one.package} | {one.version} | {one.place} | {', '.join(sorted({code for _, code in one.codes}))} "
        f"| {one.what} | [{one.name}]({one.name}.py) |"
        for one in rows
    ]
    return HEAD + "\n".join(lines) + "\n"


def calls() -> ModuleType:
    spec = importlib.util.spec_from_file_location("calls_of_found", FIXTURES / "proofs" / "found.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_table_is_up_to_date() -> None:
    assert TABLE.read_text("utf-8") == table()


@pytest.mark.parametrize("program", programs().values(), ids=programs())
def test_program_has_what_an_issue_needs(program: Program) -> None:
    assert program.codes
    assert program.said
    assert program.repairs
    compile(program.repaired, program.name, "exec")


def test_each_program_is_confirmed_and_clean_when_repaired(tmp_path: Path) -> None:
    """One test, so that all of them are run once, the repaired ones beside the others."""
    known = programs()
    assert calls().CASES.keys() == known.keys()
    for family in ("found", "proofs"):
        shutil.copytree(FIXTURES / family, tmp_path / family, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "repaired").mkdir()
    for name, program in known.items():
        (tmp_path / "repaired" / f"{name}.py").write_text(program.repaired, "utf-8")

    findings, entries = confirmed(tmp_path)

    alone = calls().ALONE
    assert {entry["entry"] for entry in entries if entry["state"] != "ran"} == {f"proofs.found:{one}" for one in alone}
    for name, program in known.items():
        told = [found for found in findings if found["path"] == f"found/{name}.py"]
        assert {(found["line"], found["code"]) for found in told} == program.codes, name
        assert {found["verdict"]["state"] for found in told} == {"confirmed"}, told
        assert {found["verdict"]["error"] or found["verdict"]["reason"] for found in told} == set(program.said)
    assert [found for found in findings if found["path"].startswith("repaired/")] == []
    for device in ("cuda-0", "cuda-1"):
        assert json.loads((tmp_path / f"found-{device}.json").read_text("utf-8")) == {}


def confirmed(directory: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The findings in both folders with their verdicts, and the entries with what became of them."""
    names = ("everything", *sorted(calls().ALONE))
    entries = [argument for name in names for argument in ("--entry", f"proofs.found:{name}")]
    command = [sys.executable, "-m", "devlint", "confirm", "--isolated", "--output-format", "json", *entries]
    command += ["--device", "sim:0", "--placements", "first,second,cpu", "found", "repaired"]
    done = subprocess.run(command, cwd=directory, env=environment(), capture_output=True, check=False)
    assert done.stdout, done.stderr.decode()
    document = json.loads(done.stdout)
    return document["findings"], document["entries"]


if __name__ == "__main__":
    TABLE.write_text(table(), "utf-8")
