"""The baseline's file: read, written, merged, refused."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devlint.gate.baseline_file import BaselineError, read_baseline, render_baseline, write_baseline
from devlint.gate.matching import Key
from tests.gate.conftest import ENVIRONMENT, Repo

KNOWN = Counter(
    {
        Key("src/b.py", "Net.forward", "DEV101", "torch.zeros(3)"): 2,
        Key("src/a.py", "", "DEV301", 'torch.device("cuda:0")'): 1,
        Key("src/Übung.py", "größe", "DEV101", "torch.ones(1)"): 1,
    }
)


def read(file: Path) -> Counter[Key]:
    return read_baseline(file, file.name)


def test_one_entry_is_one_line_and_the_lines_are_sorted() -> None:
    text = render_baseline(KNOWN)
    lines = [line for line in text.splitlines() if '"path"' in line]
    assert len(lines) == len(KNOWN)
    assert lines == sorted(lines)
    assert all(line.endswith("},") for line in lines)
    assert json.loads(text)["version"] == 1
    assert "größe" in text


def test_what_is_written_is_what_is_read(tmp_path: Path) -> None:
    file = tmp_path / "known.json"
    assert write_baseline(file, KNOWN)
    assert read(file) == KNOWN


@given(
    st.dictionaries(
        st.builds(Key, *[st.text(st.characters(exclude_categories=[]), max_size=5)] * 4), st.integers(1, 9), max_size=5
    )
)
def test_any_text_survives(known: dict[Key, int]) -> None:
    text = render_baseline(known).encode("utf-8").decode("utf-8")
    entries = json.loads(text)["entries"][:-1]
    assert {Key(e["path"], e["scope"], e["code"], e["text"]): e.get("count", 1) for e in entries} == known


def test_the_same_content_is_not_written_again(tmp_path: Path) -> None:
    file = tmp_path / "known.json"
    write_baseline(file, KNOWN)
    before = file.stat()
    assert not write_baseline(file, KNOWN)
    assert (file.stat().st_mtime_ns, file.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


def test_the_mode_is_kept_a_link_stays_one_and_nothing_else_is_left(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    file, link = tmp_path / "real" / "known.json", tmp_path / "link.json"
    write_baseline(file, KNOWN)
    file.chmod(0o640)
    link.symlink_to(file)
    write_baseline(link, Counter())
    assert link.is_symlink()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert read(file) == Counter()
    assert os.listdir(tmp_path / "real") == ["known.json"]


def test_a_failed_write_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "known.json"
    write_baseline(file, KNOWN)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BaselineError, match="cannot be written: no space left on device"):
        write_baseline(file, Counter())
    assert read(file) == KNOWN
    assert os.listdir(tmp_path) == ["known.json"]


ENTRY = '{"path": "a.py", "scope": "", "code": "DEV101", "text": "x"}'

MALFORMED: dict[str, tuple[str | bytes, str]] = {
    "not JSON": ('{"version": 1, "entries": [\n}', "known.json:2: not valid JSON: expecting value"),
    "empty": ("", "known.json:1: not valid JSON: expecting value"),
    "not UTF-8": (b"\xff\xfe{}", "known.json: not a baseline: it is not UTF-8 text"),
    "another document": ('[{"a": 1}]', "known.json: not a baseline: it has no list of `entries`"),
    "no version": ('{"entries": []}', "known.json: no version; this devlint reads version 1"),
    "a later version": ('{"version": 2, "entries": []}', "known.json: version 2; this devlint reads version 1"),
    "a missing field": (
        '{"version": 1,\n"entries": [\n' + ENTRY + ',\n{"path": "a.py", "scope": ""},\n{}]}',
        "known.json:4: entry 2 has no `code`",
    ),
    "a wrong type": (
        '{"version": 1, "entries": [' + ENTRY.replace('"x"', "1") + "]}",
        "known.json: entry 1 has a `text` that is no string",
    ),
    "a wrong count": (
        '{"version": 1, "entries": [' + ENTRY.replace("}", ', "count": 0}') + "]}",
        "known.json: entry 1 has the count 0; it must be a positive integer",
    ),
    "an unknown field": (
        '{"version": 1, "entries": [' + ENTRY.replace("}", ', "line": 3}') + "]}",
        "known.json: entry 1 has an unknown field `line`",
    ),
    "a merge conflict": (
        '{"version": 1,\n"entries": [\n<<<<<<< HEAD\n' + ENTRY + ",\n=======\n>>>>>>> work\n{}]}",
        "known.json:3: an unresolved merge conflict; keep the lines of both sides",
    ),
    "nested too deeply": ('{"version": 1, "entries": ' + "[" * 100_000, "known.json: not a baseline"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_a_malformed_file_is_refused_in_one_line(tmp_path: Path, case: str) -> None:
    content, complaint = MALFORMED[case]
    file = tmp_path / "known.json"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BaselineError) as caught:
        read(file)
    assert str(caught.value).startswith(complaint)
    assert "\n" not in str(caught.value)


def entry(name: str, count: int = 1) -> Counter[Key]:
    return Counter({Key(f"{name}.py", "", "DEV101", "x"): count})


@pytest.mark.parametrize("attributes", ["", "known.json merge=union\n"])
def test_additions_of_two_branches_at_different_places_merge(tmp_path: Path, attributes: str) -> None:
    common = entry("b") + entry("e") + entry("h")
    repo = Repo.make(tmp_path / "repo", {"known.json": render_baseline(common), ".gitattributes": attributes})
    repo.branch()
    repo.commit(**{"known.json": render_baseline(common + entry("z"))})
    repo.git("checkout", "-q", "main")
    repo.commit(**{"known.json": render_baseline(common + entry("a"))})
    repo.git("merge", "-q", "work", "-m", "merge")
    assert read(repo.root / "known.json") == common + entry("a") + entry("z")


def test_a_union_merge_of_what_both_branches_changed_is_valid(tmp_path: Path) -> None:
    attributes = {".gitattributes": "known.json merge=union\n"}
    repo = Repo.make(tmp_path / "repo", {"known.json": render_baseline(entry("b")), **attributes})
    repo.branch()
    repo.commit(**{"known.json": render_baseline(entry("b", 2) + entry("z"))})
    repo.git("checkout", "-q", "main")
    repo.commit(**{"known.json": render_baseline(entry("b", 3) + entry("y"))})
    repo.git("merge", "-q", "work", "-m", "merge")
    assert read(repo.root / "known.json") == entry("b", 3) + entry("y") + entry("z")


def test_a_conflict_left_in_the_file_is_named(tmp_path: Path) -> None:
    repo = Repo.make(tmp_path / "repo", {"known.json": render_baseline(entry("b"))})
    repo.branch()
    repo.commit(**{"known.json": render_baseline(entry("b", 2))})
    repo.git("checkout", "-q", "main")
    repo.commit(**{"known.json": render_baseline(entry("b", 3))})
    merge = subprocess.run(["git", "merge", "work"], cwd=repo.root, env=ENVIRONMENT, capture_output=True, check=False)
    assert merge.returncode == 1
    with pytest.raises(BaselineError, match=r"known.json:4: an unresolved merge conflict"):
        read(repo.root / "known.json")
