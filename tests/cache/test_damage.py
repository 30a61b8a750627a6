"""A record of which a few bytes are others: it is JSON still, and is believed in nothing."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from devlint.cache.place import NAME
from tests.cache.conftest import Project

DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "a letter of a message": lambda data: data.replace(b"is created", b"is creaked"),
    "a digit": lambda data: re.sub(rb"[0-8](?=[,\]])", lambda digit: b"%d" % (int(digit[0]) + 1), data, count=3),
    "a word of a key": lambda data: re.sub(rb'(?<=")(\w)(?=\w+":)', b"Z", data, count=2),
    "a truth": lambda data: data.replace(b"false", b"true ").replace(b"null", b"true"),
    "a code": lambda data: data.replace(b"DEV101", b"DEV102"),
    "a path": lambda data: data.replace(b"helper", b"hepler"),
    "a hash": lambda data: re.sub(rb"(?<=[0-9a-f]{12})[0-9a-f]", b"0", data),
    "a byte too much": lambda data: data.replace(b" ", b"  ", 1),
    "a byte too few": lambda data: data.replace(b"the ", b"he ", 1),
    "a blank between tokens": lambda data: data.replace(b",", b", ", 1),
    "a zero byte": lambda data: data.replace(b" ", b"\0", 1),
    "a high bit": lambda data: data.replace(b" ", b"\xa0", 1),
    "an empty list": lambda data: re.sub(rb"\[[^\[\]]+\]", b"[]", data, count=1),
    "another order of lines": lambda data: b"\n".join(reversed(data.split(b"\n"))),
    "a line twice": lambda data: data + b"\n" + data,
    "a block of zeros": lambda data: data[: len(data) // 2] + bytes(16) + data[len(data) // 2 + 16 :],
    "another end": lambda data: data[:-1] + (b"0" if data[-1:] != b"0" else b"1"),
}


@pytest.mark.parametrize("part", ["local", "packs"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_said_is_not_what_a_damaged_record_says(project: Project, damage: str, part: str) -> None:
    expected = project.lint()
    assert expected
    changed = [path for path in records(project, part) if harmed(path, DAMAGES[damage])]
    assert changed
    if part == "packs":
        shutil.rmtree(records(project, "local")[0].parent)  # it would answer before the packs are asked
    assert project.lint() == expected
    assert (part == "local") == (project.analysed == []), "the packs hold what the table has lost"
    assert project.lint() == expected
    assert project.analysed == [], "what was damaged is written anew"


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_program_is_read_from_its_file(project: Project, damage: str) -> None:
    project.lint()
    for path in records(project, "programs"):
        harmed(path, DAMAGES[damage])
    assert records(project, "programs")
    project.replace("pkg/net.py", "make(3)", "make(4)")
    project.agrees()
    assert "pkg/net.py" in project.analysed


def test_a_record_in_the_place_of_another_says_nothing_false(project: Project) -> None:
    expected = project.lint()
    packs = records(project, "packs")
    for path, other in zip(packs, [*packs[1:], packs[0]], strict=True):
        path.with_suffix(".new").write_bytes(other.read_bytes())
    for path in packs:
        path.with_suffix(".new").replace(path)
    shutil.rmtree(records(project, "local")[0].parent)
    assert project.lint() == expected


def test_a_program_in_the_place_of_another_is_not_believed(project: Project) -> None:
    project.write("pkg/other.py", "def Base():\n    return 'torch'\n")
    project.replace("pkg/net.py", "import torch\n", "import torch\nimport pkg.other\n\nOTHER = pkg.other.Base\n")
    project.lint()
    programs = records(project, "programs")
    assert len(programs) > 1
    texts = [path.read_bytes() for path in programs]
    for path, text in zip(programs, [*texts[1:], texts[0]], strict=True):
        path.write_bytes(text)
    project.replace("pkg/net.py", "make(3)", "make(4)")
    assert project.agrees()


def records(project: Project, part: str) -> list[Path]:
    return sorted((project.root / NAME).glob(f"*/{part}/*.json"))


def harmed(path: Path, damage: Callable[[bytes], bytes]) -> bool:
    """Whether there was anything in it to damage."""
    data = path.read_bytes()
    path.write_bytes(damage(data))
    return path.read_bytes() != data
