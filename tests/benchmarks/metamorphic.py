"""Findings do not depend on how a program is written: rewritings that change nothing are linted beside the original.

    python -m tests.benchmarks.metamorphic [--generated 200] [--seed 0] [--minutes M] [--keep DIRECTORY]
    python -m tests.benchmarks.metamorphic RELEASE_DIRECTORY_OR_FILE ... [--files 200]

Compared are the findings shown by default, by code, definition and the text of what is flagged. What a rewriting says
otherwise is told with the file; the table counts programs, findings, and those that went or came.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path

import devlint
from devlint.finding import Finding
from tests.benchmarks.generating.files import batches
from tests.benchmarks.rewriting import texts
from tests.benchmarks.rewriting.trees import TREES, rewritten

REWRITINGS: dict[str, Callable[[str], str | None]] = {
    "comments and blank lines": texts.commented,
    **{name: partial(rewritten, name=name) for name in TREES},
}

Said = Counter[tuple[str, str, str]]
"""Code, definition and flagged text of findings."""


@dataclass
class Tally:
    programs: int = 0
    findings: int = 0
    gone: int = 0
    new: int = 0
    codes: Counter[str] = field(default_factory=Counter)


def said_of(findings: list[Finding], text: str) -> Said:
    lines = text.splitlines()
    return Counter((finding.code, finding.scope, _flagged(finding, lines)) for finding in findings)


_ALIASES = re.compile(r"_(here|q)\b")


def _flagged(finding: Finding, lines: list[str]) -> str:
    """The source that is flagged, on one line, under the names that it had."""
    place = finding.place
    found = lines[place.line - 1 : place.end_line]
    found[-1] = found[-1][: place.end_column - 1]
    found[0] = found[0][place.column - 1 :]
    flat = _ALIASES.sub("", " ".join(line.strip() for line in found))
    # A statement that is flagged as a whole has another beginning where its result got a name.
    return re.sub(r"^(return|_result =) ", "", flat)


def compare(text: str, filename: Path, tallies: dict[str, Tally]) -> Iterator[tuple[str, str, str]]:
    """Name of the rewriting, its text and what it changed, for each that changed anything."""
    plain = texts.formatted(text)
    before = said_of(devlint.lint_source(text, filename, isolated=True), text)
    as_formatted = said_of(devlint.lint_source(plain, filename, isolated=True), plain)
    if told := _counted(tallies.setdefault("formatting", Tally()), _unspaced(before), _unspaced(as_formatted)):
        yield "formatting", plain, told
    for name, rewrite in REWRITINGS.items():
        changed = rewrite(plain)
        if changed is None:
            continue
        after = said_of(devlint.lint_source(changed, filename, isolated=True), changed)
        if told := _counted(tallies.setdefault(name, Tally()), as_formatted, after):
            yield name, changed, told


def _unspaced(said: Said) -> Said:
    """By code and definition alone: parentheses and quotes are of the form."""
    return Counter((code, scope, "") for code, scope, _ in said.elements())


def _counted(tally: Tally, before: Said, after: Said) -> str:
    gone, new = before - after, after - before
    tally.programs += 1
    tally.findings += before.total()
    tally.gone += gone.total()
    tally.new += new.total()
    tally.codes.update(code for code, _, _ in (gone + new).elements())
    return "; ".join([f"gone {key}" for key in gone] + [f"new {key}" for key in new])


def generated(count: int, seed: int) -> Iterator[tuple[str, Path, str]]:
    """Programs with the file beside them in one text: what is imported from it stands above."""
    for name, batch in batches(seed, count, 5):
        main = "\n".join(line for line in batch.main.splitlines() if not line.startswith(("import ", "from ")))
        yield name, Path(f"{name}.py").absolute(), batch.apart + main + "\n"


def files(directories: list[Path], count: int, seed: int) -> Iterator[tuple[str, Path, str]]:
    """So many files that name torch, drawn from directories; files that are named themselves are among them."""
    found = [
        path
        for directory in directories
        for path in ([directory] if directory.is_file() else sorted(directory.rglob("*.py")))
    ]
    random.Random(seed).shuffle(found)
    for path in found:
        if count == 0:
            return
        text = path.read_text("utf-8", "replace")
        try:
            ast.parse(text)
        except (SyntaxError, ValueError):
            continue
        if "torch." in text and len(text) < 120_000:
            count -= 1
            yield str(path), path, text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("releases", nargs="*", type=Path, metavar="RELEASE_DIRECTORY_OR_FILE")
    parser.add_argument("--generated", type=int, default=200, help="texts of five programs each")
    parser.add_argument("--files", type=int, default=200, help="files drawn of the directories")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=0, help="stop then, and tell of what has run")
    parser.add_argument("--keep", type=Path, help="keep the rewritten texts there that changed something")
    options = parser.parse_args()
    started, tallies, tried = time.perf_counter(), dict[str, Tally](), 0
    programs = chain(generated(options.generated, options.seed), files(options.releases, options.files, options.seed))
    for name, filename, text in programs:
        if options.minutes and time.perf_counter() - started > 60 * options.minutes:
            print(f"stopped after {options.minutes:g} min")
            break
        tried += 1
        for rewriting, changed, told in compare(text, filename, tallies):
            print(f"{rewriting}: {name}: {told}", flush=True)
            if options.keep is not None:
                options.keep.mkdir(parents=True, exist_ok=True)
                stem = f"{Path(name).stem}_{rewriting.replace(' ', '_')}"
                (options.keep / f"{stem}.py").write_text(changed, "utf-8")
                (options.keep / f"{stem}_before.py").write_text(texts.formatted(text), "utf-8")
    print(f"{'rewriting':<26}{'programs':>9}{'findings':>9}{'gone':>6}{'new':>6}")
    for name, tally in tallies.items():
        codes = ", ".join(f"{code} {count}" for code, count in tally.codes.most_common(6))
        print(f"{name:<26}{tally.programs:>9}{tally.findings:>9}{tally.gone:>6}{tally.new:>6}  {codes}")
    print(f"{tried} texts, {time.perf_counter() - started:.0f} s, seed {options.seed}")


if __name__ == "__main__":
    main()
