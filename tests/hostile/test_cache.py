"""A cache that somebody else has filled: what is not as devlint writes it counts as not there."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from devlint.cache.place import default_directory
from devlint.cache.reading import sealed
from devlint.check import Request, check
from devlint.configuration.config import Overrides
from devlint.pipeline.result import Result
from tests.hostile.conftest import BUG

DEEP = b"[" * 100_000
EVIL = {
    "brackets": DEEP,
    "objects": b'{"a":' * 100_000,
    "nothing": b"",
    "no UTF-8": b"\xff\xfe",
    "digits": b"[" + b"9" * 10_000 + b"]",
    "a number": b"1",
    "other things": json.dumps([{"a": 1}, ["b"], None, {"../../etc/passwd": [1, 2], "\0": 3}]).encode(),
    "surrogates": b'{"\\ud800": ["\\ud800"]}',
}


def run(directory: Path) -> Result:
    return check(Request((".",), directory, Overrides(isolated=True), jobs=1, cached=True))


def codes(result: Result) -> list[str]:
    return [finding.code for finding in result.findings]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "a.py").write_text(BUG + "from b import y\n")
    (tmp_path / "b.py").write_text("import torch\ny = torch.ones(3)\n")
    assert codes(run(tmp_path)) == ["DEV201"]
    return tmp_path


def records(tree: Path) -> list[Path]:
    found = sorted(default_directory(tree).rglob("*.json"))
    assert {path.parent.name for path in found} >= {"packs", "local"}
    return found


@pytest.mark.parametrize("with_seal", [True, False])
@pytest.mark.parametrize("kind", EVIL)
def test_whatever_is_in_a_file_of_the_cache_the_run_says_the_same_and_mends_it(
    tree: Path, kind: str, with_seal: bool
) -> None:
    files = records(tree)
    for file in files:
        file.write_bytes(sealed(EVIL[kind]) if with_seal else EVIL[kind])
    assert codes(run(tree)) == ["DEV201"]
    (tree / "b.py").write_text("import torch\ny = torch.ones(4)\n")
    assert codes(run(tree)) == ["DEV201"]
    (table,) = (file for file in files if file.parent.name == "local")
    assert EVIL[kind] not in (table.read_bytes(), table.read_bytes().rpartition(b"\n")[0])


@pytest.mark.parametrize("line", [0, 1])
@pytest.mark.parametrize("kind", EVIL)
def test_one_line_of_a_table_that_is_no_good(tree: Path, kind: str, line: int) -> None:
    (table,) = (path for path in records(tree) if path.parent.name == "local")
    lines = table.read_bytes().split(b"\n")
    lines[line] = EVIL[kind].replace(b"\n", b"")
    table.write_bytes(sealed(*lines[:2]))
    assert codes(run(tree)) == ["DEV201"]
    (tree / "b.py").write_text("import torch\ny = torch.ones(4)\n")
    assert codes(run(tree)) == ["DEV201"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_in_the_place_of_a_record_is_not_waited_for(tree: Path) -> None:
    for file in records(tree):
        file.unlink()
        os.mkfifo(file)
    assert codes(run(tree)) == ["DEV201"]


def test_nothing_is_written_where_a_link_leads(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "kept-1").mkdir()
    (elsewhere / "kept-1" / "packs").mkdir()
    cache = default_directory(tree)
    version = next(path for path in cache.iterdir() if path.is_dir())
    for part in ("packs", "local"):
        for file in (version / part).iterdir():
            file.unlink()
        (version / part).rmdir()
        (version / part).symlink_to(elsewhere)
    assert codes(run(tree)) == ["DEV201"]
    cache.rename(tree / "moved")
    cache.symlink_to(elsewhere)
    assert codes(run(tree)) == ["DEV201"]
    assert [path.name for path in elsewhere.rglob("*")] == ["kept-1", "packs"]


def test_what_a_killed_process_left_is_swept_away(tree: Path) -> None:
    folder = records(tree)[0].parent
    old, young = folder / ".aa.json.1.tmp", folder / ".aa.json.2.tmp"
    for path in (old, young):
        path.write_text("{")
    os.utime(old, (1, 1))
    run(tree)
    assert (old.exists(), young.exists()) == (False, True)
