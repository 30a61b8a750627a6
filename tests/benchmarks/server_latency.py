"""From an edit to its diagnostics: how long an editor waits for the language server.

    python tests/benchmarks/server_latency.py FILE --edits 100
    python tests/benchmarks/server_latency.py --folder DIRECTORY --lines 500

Each edit is one change of the whole text, at a random place: a letter more in a name or a comment, a line more, a line
less, a bracket that breaks the file. The next one is made when its diagnostics have arrived. The server's own pause
before it lints (``PAUSE_SECONDS``) is part of what is measured. With ``--lines`` the text is a made one of so many
lines, in a file of the folder that was never saved.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parent))  # by which the measures import each other

from speed_cases import torch_file
from timing import high_water

from devlint.server.sessions import PAUSE_SECONDS
from tests.server.editor import Editor


def edits(text: str, count: int, seed: int) -> list[str]:
    """Texts that differ from the given one at one place each."""
    drawn = random.Random(seed)
    lines = text.split("\n")
    found: list[str] = []
    for _ in range(count):
        at = drawn.randrange(len(lines))
        line = lines[at]
        column = drawn.randint(0, len(line))
        changed = {
            "letter": [line[:column] + "x" + line[column:]],
            "bracket": [line[:column] + "(" + line[column:]],
            "comment": [f"{line}  # x"],
            "more": [line, line],
            "less": [],
        }[drawn.choice(["letter", "letter", "comment", "more", "less", "bracket"])]
        found.append("\n".join(lines[:at] + changed + lines[at + 1 :]))
    return found


@dataclass(frozen=True)
class Measured:
    """In seconds and MiB."""

    first: float
    """Until the first diagnostics."""
    edits: list[float]
    memory: float
    """The peak of the server."""


def measure(folder: Path, file: Path, text: str, texts: Sequence[str]) -> Measured:
    editor = Editor(folder)
    started = time.perf_counter()
    editor.open(file, text)
    first = time.perf_counter() - started
    seconds: list[float] = []
    for text in texts:
        started = time.perf_counter()
        editor.change(file, text)
        seconds.append(time.perf_counter() - started)
    memory = high_water(editor.pid) / 1024 / 1024
    editor.leave()
    return Measured(first, seconds, memory)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--folder", type=Path, help="what the editor has open; by default the directory of FILE")
    parser.add_argument("--lines", type=int, help="of a made text, instead of FILE")
    parser.add_argument("--edits", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    if (asked.file is None) == (asked.lines is None) or (asked.lines is not None and asked.folder is None):
        parser.error("either FILE, or --lines with --folder")
    file = (asked.file or asked.folder / "made_for_measuring.py").expanduser().absolute()
    folder = (asked.folder or file.parent).expanduser().absolute()
    text = file.read_text(encoding="utf-8") if asked.lines is None else torch_file(asked.lines)
    measured = measure(folder, file, text, edits(text, asked.edits, asked.seed))
    seconds = measured.edits
    middle, late = statistics.median(seconds), statistics.quantiles(seconds, n=20)[-1]
    lines = text.count("\n")
    print(f"{file.name}, {lines} lines: opened {measured.first * 1000:.0f} ms, at most {measured.memory:.0f} MiB; "
          f"of {asked.edits} edits")  # fmt: skip
    print(f"  median           {middle * 1000:6.0f} ms")
    print(f"  95th percentile  {late * 1000:6.0f} ms")
    print(f"  worst            {max(seconds) * 1000:6.0f} ms")
    shortest, longest = (seconds * 1000 for seconds in PAUSE_SECONDS)
    print(f"  of which the pause before linting {shortest:.0f} to {longest:.0f} ms; load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
