"""From an edit to its diagnostics: how long an editor waits for the language server.

    python tests/benchmarks/server_latency.py FILE --edits 100

Each edit is one change of the whole text, at a random place: a letter more in a name or a comment, a line more, a line
less, a bracket that breaks the file. The next one is made when its diagnostics have arrived. The server's own pause
before it lints (``DEBOUNCE_SECONDS``) is part of what is measured.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from devlint.server.sessions import DEBOUNCE_SECONDS
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


def measure(file: Path, texts: Sequence[str]) -> tuple[float, list[float]]:
    """Seconds until the file's first diagnostics, and until those of each of the texts."""
    editor = Editor(file.parent)
    started = time.perf_counter()
    editor.open(file, file.read_text(encoding="utf-8"))
    first = time.perf_counter() - started
    seconds: list[float] = []
    for text in texts:
        started = time.perf_counter()
        editor.change(file, text)
        seconds.append(time.perf_counter() - started)
    editor.leave()
    return first, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--edits", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    file = asked.file.expanduser().absolute()
    first, seconds = measure(file, edits(file.read_text(encoding="utf-8"), asked.edits, asked.seed))
    middle, late = statistics.median(seconds), statistics.quantiles(seconds, n=20)[-1]
    print(f"{file.name}: opened {first * 1000:.0f} ms; of {asked.edits} edits")
    print(f"  median           {middle * 1000:6.0f} ms")
    print(f"  95th percentile  {late * 1000:6.0f} ms")
    print(f"  worst            {max(seconds) * 1000:6.0f} ms")
    print(f"  of which the pause before linting {DEBOUNCE_SECONDS * 1000:.0f} ms")


if __name__ == "__main__":
    main()
