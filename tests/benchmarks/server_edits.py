"""Whether the language server ever says what a fresh run would not: random edits, one after the other.

    python tests/benchmarks/server_edits.py DIRECTORY --edits 1000 --seed 1

A copy of a package is opened in an editor, some of its files at once. Each step changes a text (a statement, a
signature, a name, a letter that breaks it, several of these without a pause), saves one, or changes, removes or puts
back a file on the disk. Then what the editor shows of every open file is compared with what an analysis says that has
read nothing before. The server must still be alive at the end.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from lsprotocol import types

from devlint.pipeline.deep_stack import deep_stack
from devlint.server.buffers import Buffer
from devlint.server.diagnostics import Diagnostics
from devlint.server.linting import Linter, prepare
from tests.benchmarks.server_latency import edits as breaking
from tests.cache.edits import edited
from tests.server.editor import Editor

OPEN_FILES = 3
RESET_AFTER = 25
"""Steps after which every text is again what it was: programs do not become nonsense."""

STEPS = {"type": 10, "break": 3, "burst": 4, "save": 1, "disk": 2, "remove": 1}
"""What is done how often."""

PATIENCE_SECONDS = 120.0

SLOW_SECONDS = 10.0
"""Steps that take longer are told of."""

Shown = list[tuple[object, ...]]


class Fresh:
    """What an analysis finds that has read nothing before."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def shown(self, texts: dict[Path, str]) -> dict[Path, Shown]:
        found: dict[Path, Shown] = {}

        def work() -> None:
            buffers = {file: Buffer(file.as_uri(), str(file), 1, text, self._root) for file, text in texts.items()}
            data = {buffer.path: buffer.data for buffer in buffers.values()}
            for file, buffer in buffers.items():
                linter = Linter()
                linted = linter.lint(buffer, data)
                found[file] = shown(Diagnostics(linted, "utf-16", linter.text_of).all()[buffer.uri])

        with deep_stack(work) as thread:
            thread.join()
        return found


def shown(diagnostics: list[types.Diagnostic]) -> Shown:
    return sorted((str(one.code), repr(one.range), one.message, repr(_steps(one))) for one in diagnostics)


def _steps(one: types.Diagnostic) -> list[tuple[str, str, str]]:
    steps = one.related_information or ()
    return [(step.location.uri, repr(step.location.range), step.message) for step in steps]


class Play:
    """One editor over one copy of a package."""

    def __init__(self, directory: Path, files: list[Path], draw: random.Random) -> None:
        self.draw = draw
        self.editor = Editor(directory)
        self.fresh = Fresh(directory)
        self.files = files
        self.original = {file: file.read_text(encoding="utf-8") for file in files}
        self.open = draw.sample(files, min(OPEN_FILES, len(files)))
        self.whole = {file: self.original[file] for file in self.open}
        """The last text of each open file that Python reads."""
        self.texts = dict(self.whole)
        self.last: str = "open"
        for file in self.open:
            self.editor.open(file, self.texts[file])

    def step(self) -> None:
        self.last = self.draw.choices([*STEPS], [*STEPS.values()])[0]
        file = self.draw.choice(self.open)
        match self.last:
            case "type":
                self._set(file, edited(self.whole[file], self.draw))
            case "break":
                self._set(file, breaking(self.whole[file], 1, self.draw.randrange(10**9))[0], whole=False)
            case "burst":
                texts = [edited(self.whole[file], self.draw) for _ in range(3)]
                for text in texts[:-1]:
                    self.editor.change_without_waiting(file, text)
                    time.sleep(self.draw.random() / 5)
                self._set(file, texts[-1])
            case "save":
                self.editor.save(file, self.texts[file])
            case "disk" | "remove":
                self._disk(self.last == "remove")

    def _set(self, file: Path, text: str, whole: bool = True) -> None:
        self.texts[file] = text
        if whole:
            self.whole[file] = text
        self.editor.change_without_waiting(file, text)

    def _disk(self, remove: bool) -> None:
        others = [file for file in self.files if file not in self.open]
        if not others:
            return
        file = self.draw.choice(others)
        if not file.exists() or not remove:
            text = self.original[file]
            file.write_text(edited(text, self.draw) if file.exists() else text, encoding="utf-8")
        else:
            file.unlink()
        self.editor.changed_on_disk(file)

    def reset(self) -> None:
        for file in self.files:
            if not file.exists() or file.read_text(encoding="utf-8") != self.original[file]:
                file.write_text(self.original[file], encoding="utf-8")
                self.editor.changed_on_disk(file)
        for file in self.open:
            self._set(file, self.original[file])

    def wrong(self) -> list[str]:
        """What is shown and should not be, or is not and should; empty when all is as it should be."""
        expected = self.fresh.shown(self.texts)
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            # What was published for the text that is open, and what came later when another one changed.
            differing = [file for file in self.open if shown(self.editor.now(file)) != expected[file]]
            if not differing or time.monotonic() > until:
                break
            time.sleep(0.01)
        return [
            f"{file.name} after {self.last}: shown {shown(self.editor.now(file))}, expected {expected[file]}"
            for file in differing
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--edits", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no further step after so long")
    options = parser.parse_args()
    draw = random.Random(options.seed)
    prepare()
    wrong, kinds, findings = 0, Counter[str](), 0
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="devlint-server-") as name:
        directory = Path(os.path.realpath(name)) / options.directory.name
        shutil.copytree(options.directory, directory)
        files = [file for file in sorted(directory.rglob("*.py")) if b"torch" in file.read_bytes()]
        play = Play(directory, [file for file in files if readable(file)], draw)
        for number in range(options.edits):
            if time.monotonic() - started > options.seconds:
                break
            began, busy = time.monotonic(), time.process_time()
            if number % RESET_AFTER == RESET_AFTER - 1:
                play.reset()
            play.step()
            kinds[play.last] += 1
            for line in play.wrong():
                wrong += 1
                print(f"step {number}: {line}", flush=True)
            if time.monotonic() - began > SLOW_SECONDS:
                print(f"step {number}: {play.last} took {time.monotonic() - began:.0f} s, of which the fresh analyses "
                      f"{time.process_time() - busy:.0f} s; load {os.getloadavg()[0]:.1f}", flush=True)  # fmt: skip
            findings += sum(len(play.editor.now(file)) for file in play.open)
        code = play.editor.leave()
    told = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    print(f"{options.directory.name}, seed {options.seed}: {kinds.total()} steps ({told}) with {findings} diagnostics; "
          f"{wrong} wrong; the server ended with {code}; {time.monotonic() - started:.0f} s")  # fmt: skip
    sys.exit(bool(wrong or code))


def readable(file: Path) -> bool:
    try:
        compile(file.read_text(encoding="utf-8"), str(file), "exec")
    except (SyntaxError, ValueError):
        return False
    return True


if __name__ == "__main__":
    main()
