"""Damaged input: files, settings, baselines, notebooks and cache entries, and what a run makes of them.

    python -m tests.benchmarks.damage files DIRECTORY... [--count 10000] [--seed 0] [--keep DIRECTORY]
    python -m tests.benchmarks.damage settings [--count 1000] [--seed 0] [--keep DIRECTORY]

``files`` damages Python files of the directories, lints each as a file of its own and counts what came of it: findings,
refused (DEV902), over its time, *failed* (an error of devlint's own). ``settings`` runs the command in a project whose
configuration, ignore file, baseline, notebook or cache was damaged: an exit code that is none of devlint's, a traceback
and a run over ten seconds count as *failed*, and so does a damaged cache that changes what is said. What failed is told
and kept; the exit code is 1 then.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from devlint.configuration.codes import UNREADABLE_FILE, all_codes
from devlint.pipeline.task import FileReport, FileTask, Gate
from devlint.pipeline.workers import run
from devlint.source.deadline import SECONDS

ROOT = Path(__file__).parents[2]
LARGEST_FILE = 200_000
"""Bytes: larger files are left out of the draw, since most of them would say the same for longer."""

Damage = Callable[[bytes, bytes, random.Random], bytes]
"""Makes a new text of a text, with another one to take parts from."""


# -- what is done to a text ------------------------------------------------------------------------------------------


def _span(data: bytes, draw: random.Random, most: int = 400) -> tuple[int, int]:
    start = draw.randrange(len(data) + 1)
    return start, min(len(data), start + draw.randrange(most))


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True) or [b""]


def cut(data: bytes, other: bytes, draw: random.Random) -> bytes:
    return data[: draw.randrange(len(data) + 1)]


def drop(data: bytes, other: bytes, draw: random.Random) -> bytes:
    start, end = _span(data, draw)
    return data[:start] + data[end:]


def double(data: bytes, other: bytes, draw: random.Random) -> bytes:
    start, end = _span(data, draw)
    return data[:end] + data[start:end] * draw.choice((1, 1, 2, 30)) + data[end:]


def graft(data: bytes, other: bytes, draw: random.Random) -> bytes:
    start, end = _span(other, draw, 2000)
    at = draw.randrange(len(data) + 1)
    return data[:at] + other[start:end] + data[at:]


def insert(data: bytes, other: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(data) + 1)
    return data[:at] + draw.choice(_PIECES) * draw.choice((1, 1, 1, 5, 60)) + data[at:]


def flip(data: bytes, other: bytes, draw: random.Random) -> bytes:
    changed = bytearray(data or b" ")
    for _ in range(draw.choice((1, 3, 20))):
        changed[draw.randrange(len(changed))] = draw.randrange(256)
    return bytes(changed)


def drop_line(data: bytes, other: bytes, draw: random.Random) -> bytes:
    lines = _lines(data)
    del lines[draw.randrange(len(lines))]
    return b"".join(lines)


def swap_lines(data: bytes, other: bytes, draw: random.Random) -> bytes:
    lines = _lines(data)
    first, second = draw.randrange(len(lines)), draw.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]
    return b"".join(lines)


def foreign_line(data: bytes, other: bytes, draw: random.Random) -> bytes:
    lines = _lines(data)
    lines.insert(draw.randrange(len(lines) + 1), draw.choice(_lines(other)))
    return b"".join(lines)


def indent(data: bytes, other: bytes, draw: random.Random) -> bytes:
    lines = _lines(data)
    start = draw.randrange(len(lines))
    for at in range(start, min(len(lines), start + draw.choice((1, 5, 50)))):
        lines[at] = draw.choice((b"    ", b"\t", b" ", b"\x0c", b"")) + (
            lines[at] if draw.random() < 0.5 else lines[at].lstrip(b" ")
        )
    return b"".join(lines)


def rename(data: bytes, other: bytes, draw: random.Random) -> bytes:
    """One word becomes another one everywhere."""
    words = sorted({word for word in data.split() if word.isalpha()}) or [b"x"]
    return data.replace(draw.choice(words), draw.choice([*words, *_PIECES]))


def endings(data: bytes, other: bytes, draw: random.Random) -> bytes:
    return data.replace(b"\n", draw.choice((b"\r", b"\r\n", b"\n\r", b"\x0b\n", b"\\\n")))


_PIECES = (
    *(b"( ) [ ] { } , : ; = . * ** @ -> := ... ' \" ''' \"\"\" \\ # $ ? ! ~ \t \r \n \x00 \x0c".split(b" ")),
    b"\xef\xbb\xbf", b"\xff", b"\xe2\x80\xae", b"\xf0\x9f\x92\xa9", b"\xcc\x81", b"\xed\xa0\x80",
    b"# -*- coding: utf-7 -*-\n", b"# coding: rot13\n", b"lambda: ", b"async ", b"await ", b"yield ", b"match x:\n",
    b"case _:\n", b"type X = int\n", b"def f(", b"class C(", b"import torch\n", b"from . import *\n", b"global x\n",
    b"nonlocal x\n", b"del self\n", b"with torch.device('cuda'):\n", b".to('cuda')", b".cuda()", b".cpu()",
    b"torch.zeros(3)", b"# noqa: DEV101\n", b"# devlint: ignore\n", b"f'{x!r:{y}}'", b"0xg", b"1_000_", b"if x:\n",
    b"else:\n", b"try:\n", b"except* E:\n", b"finally:\n", b"return\n", b"not ", b"-" * 50, b"(" * 50, b"self.",
)  # fmt: skip

ON_TEXT: tuple[Damage, ...] = (
    cut, drop, double, graft, insert, insert, insert, flip, drop_line, swap_lines, foreign_line, indent, rename,
    endings,
)  # fmt: skip


def damaged(data: bytes, other: bytes, draw: random.Random) -> bytes:
    """``data`` after one to five damages."""
    for _ in range(draw.choice((1, 1, 1, 2, 3, 5))):
        data = draw.choice(ON_TEXT)(data, other, draw)
    return data


# -- files -----------------------------------------------------------------------------------------------------------


def damaged_files(directories: list[Path], count: int, seed: int) -> Iterator[FileTask]:
    """Tasks of damaged files, where their originals lie: what they import is found."""
    draw = random.Random(f"damage {seed}")
    files = [(path, root) for root in directories for path in sorted(root.rglob("*.py")) if _is_wanted(path)]
    gate = Gate(frozenset(all_codes()))
    for number in range(count):
        path, root = draw.choice(files)
        data = damaged(path.read_bytes(), draw.choice(files)[0].read_bytes(), draw)
        shown = f"{number}_{path.name}"
        yield FileTask(str(path), shown, shown, str(path.relative_to(root)), gate, data)


def _is_wanted(path: Path) -> bool:
    return path.is_file() and 0 < path.stat().st_size <= LARGEST_FILE and b"torch" in path.read_bytes()


def try_files(directories: list[Path], count: int, seed: int, keep: Path | None) -> Counter[str]:
    """What came of each, counted; what failed is told."""
    said: Counter[str] = Counter()
    slowest = 0.0
    for task, report, taken in _reports(list(damaged_files(directories, count, seed))):
        slowest = max(slowest, taken)
        refusal = next((f.message for f in report.findings if f.code == UNREADABLE_FILE), "")
        how = "findings" if report.findings else "nothing found"
        if "devlint itself failed" in refusal:
            how = "failed"
        elif "processor time" in refusal or taken > SECONDS:
            how = "over its time"
        elif refusal:
            how = "refused"
        said[how] += 1
        if how in ("failed", "over its time"):
            _tell(keep, task.shown_as, task.data or b"", f"{how}: {task.path}: {refusal} ({taken:.1f} s)")
    print(f"slowest: {slowest:.2f} s of processor time")
    return said


def _reports(tasks: list[FileTask]) -> Iterator[tuple[FileTask, FileReport, float]]:
    """Each report with its task and the processor time it took. Files around are read once for some of them."""
    for start in range(0, len(tasks), _AT_ONCE):
        by_name = {task.shown_as: task for task in tasks[start : start + _AT_ONCE]}
        began = time.process_time()
        for report in run(list(by_name.values()), 1):
            now = time.process_time()
            yield by_name[report.shown_as], report, now - began
            began = time.process_time()


_AT_ONCE = 100


def _tell(keep: Path | None, name: str, data: bytes, text: str) -> None:
    print(text, flush=True)
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        (keep / name).write_bytes(data)


# -- settings --------------------------------------------------------------------------------------------------------

MODEL = "import torch\n\n\ndef f(x: torch.Tensor) -> torch.Tensor:\n    return x + torch.arange(x.size(0))\n"
CONFIGURATION = """\
[project]
name = "model"

[tool.devlint]
select = ["DEV"]
ignore = ["DEV4"]
exclude = ["build/*", "**/gen_*.py"]
src = ["."]
min-confidence = "medium"
baseline = "baseline.json"

[tool.devlint.per-file-ignores]
"tests/*" = ["DEV1"]
"""
IGNORED = "*.log\n/build/\n!keep.py\nnode_[a-z]*/**/x?\n[[:space:]]*\n"
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["# A model\n"]},
        {
            "cell_type": "code", "id": "b", "metadata": {}, "execution_count": None, "outputs": [],
            "source": ["%matplotlib inline\n", "import torch\n", "x = torch.ones(3).cuda() + torch.ones(3)\n"],
        },
    ],
    "metadata": {"language_info": {"name": "python"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}  # fmt: skip
KINDS = ("pyproject.toml", ".gitignore", "baseline.json", "work.ipynb", "cache")


def project(directory: Path) -> None:
    """A small project with a file of each kind, and a filled cache."""
    directory.mkdir()
    (directory / "model.py").write_text(MODEL)
    (directory / "other.py").write_text(MODEL.replace("arange", "rand").replace("def f", "def g"))
    (directory / "pyproject.toml").write_text(CONFIGURATION)
    (directory / ".gitignore").write_text(IGNORED)
    (directory / "work.ipynb").write_text(json.dumps(NOTEBOOK, indent=1))
    (directory / ".git").mkdir()
    devlint(directory, "--write-baseline", "other.py")
    devlint(directory, ".")  # which fills the cache


def devlint(directory: Path, *arguments: str) -> tuple[int, str, str]:
    """Exit code, and what was said; -1 for a run that was stopped."""
    command = [sys.executable, "-m", "devlint", "check", "--output-format", "concise", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    try:
        done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return -1, "", "it hangs"
    return done.returncode, done.stdout.decode(), done.stderr.decode(errors="replace")


def try_settings(count: int, seed: int, keep: Path | None) -> Counter[str]:
    """By kind of file and exit code; what failed is told."""
    said: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="damage-") as scratch:
        sound = Path(scratch) / "sound"
        project(sound)
        expected = devlint(sound, ".")
        if expected[0] != 1 or not expected[1]:
            raise RuntimeError(f"the undamaged project: {expected}")
        for number in range(count):
            draw = random.Random(f"{seed} {number}")
            kind = KINDS[number % len(KINDS)]
            directory = Path(scratch) / "tried"
            shutil.copytree(sound, directory, symlinks=True)
            target = _target(directory, kind, draw)
            others = [path for path in sound.rglob("*") if path.is_file()]
            target.write_bytes(damaged(target.read_bytes(), draw.choice(others).read_bytes(), draw))
            started = time.monotonic()
            code, out, err = devlint(directory, ".")
            problem = _problem(kind, code, out, err, expected[1], time.monotonic() - started)
            said[f"{kind}: {problem or code}"] += 1
            if problem:
                _tell(
                    keep, f"{number}_{target.name}", target.read_bytes(), f"failed: {kind} {number}: {problem}: {err}"
                )
            shutil.rmtree(directory)
    return said


def _target(directory: Path, kind: str, draw: random.Random) -> Path:
    if kind != "cache":
        return directory / kind
    kept = sorted(path for path in (directory / ".devlint_cache").rglob("*") if path.is_file() and path.stat().st_size)
    return draw.choice(kept)


def _problem(kind: str, code: int, out: str, err: str, expected: str, seconds: float) -> str:
    if code not in (0, 1, 2) or "Traceback" in err or "internal error" in err or "itself failed" in out:
        return f"failed ({code})"
    if seconds > SECONDS:
        return "failed (slow)"
    if code == 2 and not err and UNREADABLE_FILE not in out:
        return "failed (2, and not a word)"
    if kind == "cache" and (code, out) != (1, expected):
        return "failed (another result)"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("what", choices=("files", "settings"))
    parser.add_argument("directories", nargs="*", type=Path)
    parser.add_argument("--count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="what failed is written there")
    options = parser.parse_args()
    started = time.monotonic()
    if options.what == "files":
        if not options.directories:
            parser.error("files of which directories?")
        said = try_files(options.directories, options.count or 10_000, options.seed, options.keep)
    else:
        said = try_settings(options.count or 1_000, options.seed, options.keep)
    for how, count in sorted(said.items()):
        print(f"{how:30}{count:7}")
    print(f"{said.total()} inputs in {time.monotonic() - started:.0f} s, seed {options.seed}")
    return int(any("failed" in how or how == "over its time" for how in said))


if __name__ == "__main__":
    sys.exit(main())
