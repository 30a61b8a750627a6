"""How often devlint's findings are true, by rule, severity and confidence, from what readers said of them.

    python tests/benchmarks/calibration.py                 the label files of samples that nobody had looked at
    python tests/benchmarks/calibration.py FILE...         these label files
    ... --lint                                             of the labelled findings those that devlint still makes
    ... --rules                                            without confidence: a line for each rule and severity
    ... --markdown                                         the table as it stands in the README

A line counts the labels of one rule at one severity and confidence; "-" is a label that was written down without its
confidence. Unclear findings stand beside and are in no share; *at least* is the lower end of the share's 95 % interval.
As they are, the labels tell how devlint did on code that nobody had looked at. With --lint they tell which causes have
been mended since, and nothing about other code. The releases are downloaded once; nothing of them is run.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from downloads import DEFAULT_CACHE, checked_cache, unpacked
from labels import VERDICTS, Tally
from linting import Finding, lint
from verdicts import markdown_table, text_table

FIXTURES = Path(__file__).parents[2] / "fixtures"
FILES = (FIXTURES / "fresh_labels.jsonl", *sorted((FIXTURES / "rounds").glob("*/labels.jsonl")))
SEVERITIES = ("error", "warning")
CONFIDENCES = ("high", "medium", "low", "-")


@dataclass(frozen=True)
class Judged:
    """One finding with its verdict. ``confidence`` is "-" where the reader's file does not tell."""

    release: str
    path: str
    line: int
    code: str
    severity: str
    confidence: str
    label: str

    def is_of(self, finding: Finding) -> bool:
        return (self.path, self.code, self.line) == (finding["path"], finding["code"], finding["line"])


def parse_judged(record: Any) -> Judged:
    """A label of either form: ``release`` and ``code``, or ``package``, ``version`` and ``rule``. Raises ValueError."""
    if not isinstance(record, dict):
        raise ValueError("not an object")
    release = record.get("release") or f"{record.get('package')}=={record.get('version')}"
    given = (record.get("code") or record.get("rule"), record.get("severity"), record.get("confidence", "-"))
    judged = Judged(release, record.get("path", ""), record.get("line", 0), *given, record.get("label", ""))
    allowed = {"label": VERDICTS, "severity": SEVERITIES, "confidence": CONFIDENCES}
    for name, values in allowed.items():
        if getattr(judged, name) not in values:
            raise ValueError(f"{name} is {getattr(judged, name)!r}, not one of {', '.join(values)}")
    if "None" in release or not judged.path or not judged.line or not judged.code:
        raise ValueError("without release, path, line or code")
    return judged


def read_judged(*files: Path) -> list[Judged]:
    """The labels of these files. Raises ValueError naming the file and line of a record that is none."""
    found: list[Judged] = []
    for file in files:
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            try:
                found.append(parse_judged(json.loads(line)))
            except ValueError as error:
                raise ValueError(f"{file}:{number}: not a label: {error}") from None
    return found


def table(labels: Iterable[Judged], *, by_confidence: bool = True) -> list[list[str]]:
    """Totals by severity first, then a line for each rule, errors before warnings."""
    groups: dict[tuple[int, str, int], list[Judged]] = defaultdict(list)
    for label in labels:
        severity = SEVERITIES.index(label.severity)
        groups[severity, "", 0].append(label)
        groups[severity, label.code, CONFIDENCES.index(label.confidence) if by_confidence else 0].append(label)
    head = ["rule", "severity", "confidence", *VERDICTS, "true of the decided", "at least"]
    lines = [head if by_confidence else [name for name in head if name != "confidence"]]
    for (severity, code, confidence), own in sorted(groups.items(), key=lambda item: (item[0][1] != "", item[0])):
        tally = Tally.of_verdicts(label.label for label in own)
        counts = [str(count) for count in (tally.true, tally.false, tally.unclear)]
        words = [code or "all", SEVERITIES[severity]]
        if by_confidence:
            words.append(CONFIDENCES[confidence] if code else "")
        lines.append([*words, *counts, percent(tally.precision), percent(tally.lower_bound())])
    return lines


def percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f} %"


def still_made(labels: list[Judged], findings: list[Finding]) -> list[Judged]:
    """The labels whose findings are made; two labels of one line need two findings."""
    rest, made = list(findings), []
    for label in labels:
        own = next((finding for finding in rest if label.is_of(finding)), None)
        if own is not None:
            rest.remove(own)
            made.append(label)
    return made


def linted(labels: list[Judged], cache: Path, limit: float) -> list[Judged]:
    """The labels whose findings devlint makes today, of every release in turn."""
    releases: dict[str, list[Judged]] = defaultdict(list)
    for label in labels:
        releases[label.release].append(label)
    made: list[Judged] = []
    for release, own in releases.items():
        print(f"{release}: {len(own)} labels", file=sys.stderr)
        package, _, version = release.partition("==")
        paths = sorted({label.path for label in own})
        run = lint(unpacked(package, version, cache), paths, jobs=1, cache=cache / "results", seconds_limit=limit)
        if run.trouble:
            raise SystemExit(f"{release}: {run.trouble}")
        made += still_made(own, run.findings)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--lint", action="store_true", help="count only what devlint still says")
    parser.add_argument("--rules", action="store_true", help="leave confidence out")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="[default: %(default)s]")
    parser.add_argument("--limit", type=float, default=600, metavar="SECONDS", help="for a release [default: 600]")
    options = parser.parse_args()
    try:
        labels = read_judged(*(options.files or FILES))
    except (OSError, ValueError) as error:
        raise SystemExit(str(error)) from None
    if options.lint:
        labels = linted(labels, checked_cache(options.cache), options.limit)
    lines = table(labels, by_confidence=not options.rules)
    words = frozenset(range(lines[0].index("true")))
    print(markdown_table(lines, words) if options.markdown else text_table(lines))


if __name__ == "__main__":
    main()
