"""Which findings that readers judged in freshly linted releases devlint still makes: true ones to keep, false to lose.

    python tests/benchmarks/fresh_labels.py               all of fixtures/fresh_labels.jsonl
    python tests/benchmarks/fresh_labels.py espnet sbi    the findings in these packages
    ... --json FILE                                       each label, and whether the finding is still there

The releases are downloaded from PyPI and unpacked; nothing of them is installed or imported. Only the files that have
a label are linted. The labels were given to releases that nobody had linted before: 29 of 70 errors and 49 of 70
warnings were true then. Since then they have been read to learn from, so that what is left of them says which causes
are mended and nothing of how often devlint is right.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from downloads import DEFAULT_CACHE, checked_cache, unpacked
from labels import VERDICTS
from linting import Finding, lint
from verdicts import markdown_table, text_table

LABELS = Path(__file__).parents[2] / "fixtures" / "fresh_labels.jsonl"

CAUSES = {
    "receiver": "a module that is made in sight and never moved, taken for one that moves",
    "module_list": "a container of modules that += extends, taken for a plain list",
    "callers": "a private function whose callers decide",
    "branch": "a branch, a test or a value that was lost on the way",
    "host": "data that is on the host by design",
    "view": "what reads nothing, and what names a device on purpose",
    "place": "a true finding that is told at the wrong line, or more than once",
}
"""Why a finding is false, or not as good as it could be: a label of the manifest."""

SEVERITIES = ("error", "warning")
WHERE = ("library", "script", "test")


@dataclass(frozen=True)
class FreshLabel:
    """What a reader said of one finding, which is known by its line: these releases are pinned."""

    package: str
    version: str
    path: str
    line: int
    rule: str
    severity: str
    where: str
    """Whether the file belongs to the library, its scripts or its tests."""
    label: str
    cause: str | None
    """One of CAUSES for each false finding and for true ones that are told badly; None for the others."""
    why: str

    def is_of(self, finding: Finding) -> bool:
        return (self.path, self.rule, self.line) == (finding["path"], finding["code"], finding["line"])


def read_fresh_labels(file: Path) -> list[FreshLabel]:
    """The labels. Raises ValueError naming the file and line of a record that is not one."""
    labels: list[FreshLabel] = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        try:
            label = FreshLabel(**json.loads(line))
            for field in fields(FreshLabel):
                value = getattr(label, field.name)
                if field.name == "cause":
                    continue
                if not isinstance(value, int if field.name == "line" else str) or not value:
                    raise ValueError(f"{field.name} is {value!r}")
            allowed: dict[str, Collection[str | None]] = {"label": VERDICTS, "severity": SEVERITIES, "where": WHERE}
            allowed["cause"] = list(CAUSES) if label.label == "false" else [None, *CAUSES]
            for name, values in allowed.items():
                if getattr(label, name) not in values:
                    raise ValueError(f"{name} is {getattr(label, name)!r}, not one of {', '.join(map(str, values))}")
        except (TypeError, ValueError) as error:
            raise ValueError(f"{file}:{number}: not a label: {error}") from None
        labels.append(label)
    return labels


def still_there(labels: list[FreshLabel], findings: list[Finding]) -> list[bool]:
    """For each label whether its finding is made; two labels of one line need two findings."""
    rest = list(findings)
    there: list[bool] = []
    for label in labels:
        own = next((finding for finding in rest if label.is_of(finding)), None)
        there.append(own is not None)
        if own is not None:
            rest.remove(own)
    return there


def table(labels: list[FreshLabel], there: list[bool]) -> list[list[str]]:
    """Labelled and still made, by severity and verdict; the precision of what is left, unclear ones apart."""
    lines = [["severity", *(f"{verdict}, still there" for verdict in VERDICTS), "true of the decided"]]
    for severity in (*SEVERITIES, "all"):
        own = [i for i, label in enumerate(labels) if severity in (label.severity, "all")]
        all_of = Counter(labels[i].label for i in own)
        left = Counter(labels[i].label for i in own if there[i])
        decided = left["true"] + left["false"]
        share = f"{100 * left['true'] / decided:.0f} %" if decided else "-"
        lines.append([severity, *(f"{left[verdict]} of {all_of[verdict]}" for verdict in VERDICTS), share])
    return lines


def causes(labels: list[FreshLabel], there: list[bool]) -> list[list[str]]:
    """How many of the false findings of each cause are still made."""
    lines = [["cause of the false ones", "still there", ""]]
    for cause, meaning in CAUSES.items():
        own = [i for i, label in enumerate(labels) if label.cause == cause and label.label == "false"]
        if own:
            lines.append([cause, f"{sum(there[i] for i in own)} of {len(own)}", meaning])
    return lines


def findings_of(package: str, version: str, paths: list[str], cache: Path, limit: float) -> list[Finding]:
    """The findings of these files that users see by default. Raises SystemExit where a file cannot be analysed."""
    directory = unpacked(package, version, cache)
    run = lint(directory, paths, jobs=1, cache=cache / "results", seconds_limit=limit)
    if run.trouble or run.files != len(paths):
        raise SystemExit(run.trouble or f"{len(paths)} files asked for, {run.files} analysed")
    return run.findings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", metavar="PACKAGE")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="[default: %(default)s]")
    parser.add_argument("--limit", type=float, default=600, metavar="SECONDS", help="for a package [default: 600]")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    try:
        labels = read_fresh_labels(LABELS)
    except ValueError as error:
        raise SystemExit(str(error)) from None
    unknown = set(options.packages) - {label.package for label in labels}
    if unknown:
        raise SystemExit(f"{LABELS.name} has no label of {', '.join(sorted(unknown))}")
    releases: dict[tuple[str, str], list[FreshLabel]] = defaultdict(list)
    for label in labels:
        if not options.packages or label.package in options.packages:
            releases[label.package, label.version].append(label)
    judged: list[FreshLabel] = []
    there: list[bool] = []
    failed: dict[str, str] = {}
    for (package, version), own in releases.items():
        print(f"{package} {version}: {len(own)} labels", file=sys.stderr)
        paths = sorted({label.path for label in own})
        try:
            findings = findings_of(package, version, paths, checked_cache(options.cache), options.limit)
        except SystemExit as error:
            failed[f"{package} {version}"] = str(error)
            continue
        judged += own
        there += still_there(own, findings)
    for label, is_there in zip(judged, there, strict=True):
        if is_there is (label.label == "false"):
            what = "still false" if is_there else f"lost, {label.label}"
            print(f"{what}: {label.package} {label.path}:{label.line} {label.rule} ({label.why})")
    for lines in (table(judged, there), causes(judged, there)):
        print((markdown_table if options.markdown else text_table)(lines), end="\n\n")
    for name, reason in failed.items():
        print(f"not judged: {name}: {reason}")
    if options.json is not None:
        records: list[dict[str, Any]] = [
            asdict(label) | {"there": is_there} for label, is_there in zip(judged, there, strict=True)
        ]
        document = json.dumps({"not_judged": failed, "labels": records}, indent=1)
        options.json.write_text(document + "\n", encoding="utf-8")
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
