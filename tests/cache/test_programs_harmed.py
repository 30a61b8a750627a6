"""The shelf of programs under harm: writers that are killed, several at a time, entries of others. None is believed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from devlint.cache.place import NAME
from devlint.cache.reading import sealed
from tests.cache.conftest import HELPER, Project
from tests.cache.test_damage import records
from tests.thoroughness import chosen

COMMAND = [sys.executable, "-P", "-m", "devlint", "--output-format", "json"]

KILLED = """
import os, signal, sys
from devlint.cache import place, shelf
from devlint.cli.main import main

moment, count = sys.argv.pop(1), int(sys.argv.pop(1))
original = place.write


def write(path, data):
    global count
    count -= 1
    if count < 0:
        scratch = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        if moment == "half":
            scratch.write_bytes(data[: len(data) // 2])
        if moment == "whole":
            scratch.write_bytes(data)
        if moment == "after":
            original(path, data)
        os.kill(os.getpid(), signal.SIGKILL)
    original(path, data)


shelf.write = write
main()
"""
"""A run whose process is killed when it writes one of its programs."""


def importers(project: Project, number: int) -> None:
    """Files with helpers of their own, each of which is a program to keep."""
    for one in range(number):
        project.write(f"pkg/helper_{one}.py", HELPER.replace("class Base", f"class Base{one}"))
        text = f"import torch\nfrom pkg.helper_{one} import Base{one}, make\n\n\n"
        text += f"class Net{one}(Base{one}):\n    def forward(self, x: torch.Tensor):\n        return x + make({one})\n"
        project.write(f"pkg/net_{one}.py", text)


@pytest.mark.parametrize("count", [0, 2])
@pytest.mark.parametrize("moment", ["before", "half", "whole", "after"])
def test_who_is_killed_while_programs_are_written_harms_nobody(project: Project, moment: str, count: int) -> None:
    importers(project, 4)
    command = [sys.executable, "-P", "-c", KILLED, moment, str(count), "check", "-j1"]
    died = subprocess.run(command, cwd=project.root, capture_output=True, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr.decode()
    left = list((project.root / NAME).rglob("*.tmp"))
    assert bool(left) == (moment in ("half", "whole"))
    assert len(project.agrees()) == 6
    for path in left:
        os.utime(path, (1, 1))
    for number in range(4):
        project.replace(f"pkg/net_{number}.py", "return x", f"return {number} * x")
    assert len(project.agrees()) == 6
    assert not list((project.root / NAME).rglob("*.tmp")), "what was left is swept away once it is old"


def test_runs_that_share_a_shelf_say_what_each_would_alone(project: Project) -> None:
    """Four runs at a time: with nothing kept, with some of it, and while another takes programs away."""
    importers(project, 6)
    draw = random.Random(0)
    for step in range(chosen(gate=2, search=4)):
        expected = subprocess.run([*COMMAND, "-n"], cwd=project.root, capture_output=True, check=False).stdout
        runs = [
            subprocess.Popen(
                [*COMMAND, f"-j{1 + one % 2}"], cwd=project.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            for one in range(4)
        ]
        while any(run.poll() is None for run in runs):
            for path in draw.sample(kept := records(project, "programs"), len(kept) // 3):
                path.unlink(missing_ok=True)
            time.sleep(0.01)
        said = [run.communicate() for run in runs]
        assert [out for out, _ in said] == [expected] * 4, step
        assert [error for _, error in said] == [b""] * 4, step
        for number in range(6):
            name = draw.choice([f"pkg/helper_{number}.py", f"pkg/net_{number}.py"])
            project.write(name, (project.root / name).read_text() + f"\n\nANOTHER_{step} = {step}\n")
    assert not list((project.root / NAME).rglob("*.tmp"))


def replaced(value: Any, by: Any) -> Iterator[Any]:
    """The same as JSON, each time with another of its values ``by`` something else."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        for other in (by, *replaced(one, by)):
            copied = value.copy()
            copied[key] = other
            yield copied


@pytest.mark.parametrize("by", [None, [], {}, "x", 10**9, -1, [[]], True], ids=repr)
def test_whatever_stands_in_a_program_leads_to_no_failure(project: Project, by: Any) -> None:
    """With the right seal, as a stranger could write it."""
    project.lint()
    (path,) = [path for path in records(project, "programs") if b"make" in path.read_bytes()]
    whole = path.read_bytes()
    for number, changed in enumerate(replaced(json.loads(whole.split(b"\n")[0]), by)):
        path.write_bytes(sealed(json.dumps(changed).encode()))
        project.replace("pkg/net.py", "return x +", f"return {number} * x +" if number % 2 else "return  x +")
        found = project.lint("pkg/net.py")
        project.write(
            "pkg/net.py", (project.root / "pkg/net.py").read_text().split("return")[0] + "return x + make(3)\n"
        )
        assert {finding.code for finding in found} <= {"DEV101"}, changed


def in_its_place(make: Callable[[Path], object]) -> Callable[[Path], object]:
    """Makes something else where a file was; that is another one's then."""

    def replace(path: Path) -> None:
        path.rename(path.with_suffix(".other"))
        make(path)

    return replace


STRANGE: dict[str, Callable[[Path], object]] = {
    "nothing": lambda path: path.write_bytes(b""),
    "half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "a directory": in_its_place(Path.mkdir),
    "a pipe": in_its_place(os.mkfifo),
    "a link to nothing": in_its_place(lambda path: path.symlink_to("nowhere")),
    "a link to itself": in_its_place(lambda path: path.symlink_to(path.name)),
    "a link": in_its_place(lambda path: path.symlink_to(path.with_suffix(".other"))),
    "unreadable": lambda path: path.chmod(0),
    "an older form": lambda path: path.write_bytes(sealed(b'{"version": 1, "text": null, "tree": []}')),
    "without a seal": lambda path: path.write_bytes(path.read_bytes().split(b"\n")[0]),
}


@pytest.mark.parametrize("strange", STRANGE)
def test_what_is_no_program_of_ours_is_passed_over(project: Project, strange: str) -> None:
    project.lint()
    for path in records(project, "programs"):
        STRANGE[strange](path)
    project.replace("pkg/net.py", "make(3)", "make(4)")
    assert {finding.code for finding in project.agrees()} == {"DEV101"}
    project.replace("pkg/net.py", "make(4)", "make(5)")
    assert {finding.code for finding in project.agrees()} == {"DEV101"}


def test_an_entry_of_an_older_form_is_computed_again(project: Project) -> None:
    """An entry that lacks what entries of today have, in the place of one."""
    expected = project.lint()
    for path in records(project, "packs"):
        *lines, _ = path.read_bytes().split(b"\n")
        older = [
            line.replace(b"leads_back", b"led_back").replace(rb"\"leads_back\"", rb"\"led_back\"") for line in lines
        ]
        assert older != lines
        path.write_bytes(sealed(*older))
    for path in records(project, "local"):
        path.unlink()
    assert project.lint() == expected
    assert len(project.analysed) == 4
    assert project.lint() == expected
    assert project.analysed == []


def test_what_another_version_has_kept_is_not_looked_at(project: Project) -> None:
    expected = project.lint()
    (programs,) = (project.root / NAME).glob("*/programs")
    other = programs.parent.rename(programs.parent.with_name("0.0.9-0123456789abcdef"))
    for path in other.rglob("*.json"):
        path.write_bytes(b"{}")
    assert project.lint() == expected
    assert len(project.analysed) == 4
    assert all(path.read_bytes() == b"{}" for path in other.rglob("*.json"))
