"""What devlint says of pinned releases from PyPI: findings by rule, density, time, and precision from readers' labels.

    python tests/benchmarks/releases.py                           all releases
    python tests/benchmarks/releases.py timm kornia               some of them
    python tests/benchmarks/releases.py --save run.json           and keep the findings;
    python tests/benchmarks/releases.py --from run.json           look at them again without linting
    ... --draw 60 --seed 1 --unlabelled --out drawn.jsonl         a draw, to be labelled (see labels.py)
    ... --alone 50 --seed 1                                       are drawn files the same when linted alone?
    ... --shuffle --compare-jobs --slowest                        in another order, with other workers; what is slow

Releases are downloaded once into ``--cache`` and unpacked; nothing of them is installed or imported.
The labels are in fixtures/releases_labels.jsonl. Precision is true / (true + false); unclear ones stand beside it.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from downloads import DEFAULT_CACHE, checked_cache, unpacked
from drawing import draw, to_be_labelled, words
from label_report import print_precision
from labels import DRAWS, LABELS, read_labels
from linting import Finding, line_count, lint, linted_files, per_ten_thousand
from steadiness import LintedRelease, report_alone, report_other_run, report_slowest, shuffled

import devlint

RELEASES = {
    "transformers": "5.23.0",
    "diffusers": "0.42.1",
    "timm": "1.0.31",
    "torch-geometric": "2.8.1",
    "kornia": "0.9.0",
    "monai": "1.6.1",
    "speechbrain": "1.1.2",
    "botorch": "0.18.1",
    "gpytorch": "1.15.2",
    "captum": "0.9.0",
    "ultralytics": "8.4.190",
    "pytorch-lightning": "2.6.6",
    "fairseq": "0.12.2",
}


@dataclass(frozen=True)
class Measured:
    """One release: what was found in it, and how large it is."""

    package: str
    version: str
    files: int
    lines: int
    seconds: float
    findings: list[Finding]

    @property
    def placed(self) -> list[Finding]:
        """The findings, each with its release."""
        return [{**finding, "package": self.package, "version": self.version} for finding in self.findings]


def measure(package: str, cache: Path) -> tuple[Measured, str]:
    """A release linted, and what devlint said of files that it could not analyse."""
    version = RELEASES[package]
    directory = unpacked(package, version, cache)
    run = lint(directory)
    lines = line_count(directory, linted_files(directory))
    return Measured(package, version, run.files, lines, run.seconds, run.findings), run.trouble


def row(name: str, files: int, lines: int, seconds: float, findings: list[Finding]) -> str:
    severities = Counter(finding["severity"] for finding in findings)
    density = per_ten_thousand(len(findings), lines)
    codes = " ".join(f"{code}:{n}" for code, n in sorted(Counter(finding["code"] for finding in findings).items()))
    return (
        f"{name:18} {files:5} {lines:8} {seconds:6.1f} {len(findings):8} {severities['error']:6} "
        f"{severities['warning']:8} {density:10.2f}  {codes}"
    ).rstrip()


HEAD = "release            files    lines      s findings errors warnings per 10,000  findings by rule"


def print_totals(measured: list[Measured]) -> None:
    findings = [finding for release in measured for finding in release.findings]
    lines = sum(release.lines for release in measured)
    files, seconds = sum(release.files for release in measured), sum(release.seconds for release in measured)
    print(row("total", files, lines, seconds, findings))
    print(f"\n{'rule':8} {'findings':>8} {'per 10,000 lines':>17}  releases")
    rules = Counter(finding["code"] for finding in findings)
    for code, count in sorted(rules.items()):
        releases = sum(any(finding["code"] == code for finding in release.findings) for release in measured)
        print(f"{code:8} {count:8} {per_ten_thousand(count, lines):17.3f}  {releases:8}")


def saved(measured: list[Measured]) -> dict[str, Any]:
    return {"devlint": devlint.__version__, "releases": [vars(release) for release in measured]}


def loaded(file: Path, packages: list[str]) -> list[Measured]:
    """The releases of an earlier run; a version that is no longer the pinned one is refused."""
    measured = [Measured(**release) for release in json.loads(file.read_text(encoding="utf-8"))["releases"]]
    for release in measured:
        if RELEASES.get(release.package) != release.version:
            raise SystemExit(f"{file}: {release.package} {release.version} is not a pinned release; run without --from")
    missing = set(packages) - {release.package for release in measured}
    if missing:
        raise SystemExit(f"{file} does not have {', '.join(sorted(missing))}; run without --from")
    return [release for release in measured if not packages or release.package in packages]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", choices=[*RELEASES, []], default=[], metavar="PACKAGE")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the findings there")
    parser.add_argument("--from", type=Path, metavar="FILE", dest="source", help="read the findings there; no linting")
    parser.add_argument("--labels", type=Path, default=LABELS, metavar="FILE", help="[default: %(default)s]")
    parser.add_argument("--list", action="store_true", help="list all unlabelled findings, not only errors")
    drawing = parser.add_argument_group("a draw of findings to be read by hand")
    drawing.add_argument("--draw", type=int, default=0, metavar="N")
    drawing.add_argument("--seed", type=int, default=0)
    drawing.add_argument("--severity", choices=["error", "warning"])
    drawing.add_argument("--rule", metavar="CODE", help="rules whose code begins so")
    drawing.add_argument("--unlabelled", action="store_true")
    drawing.add_argument("--per-rule", type=int, metavar="K", help="at most K findings of one rule: no fair sample")
    drawing.add_argument("--as", choices=DRAWS, dest="draw_name", help="the draw's name [default: by --severity]")
    drawing.add_argument("--out", type=Path, metavar="FILE", help="as JSON lines ready to be labelled")
    steady = parser.add_argument_group("whether findings depend on the code alone")
    steady.add_argument("--alone", type=int, default=0, metavar="N", help="lint N drawn files alone")
    steady.add_argument("--shuffle", action="store_true", help="name the files in random order")
    steady.add_argument("--compare-jobs", action="store_true", help="with one and with two workers")
    steady.add_argument("--slowest", action="store_true", help="time each of the 40 largest files alone")
    return parser.parse_args()


def write_draw(options: argparse.Namespace, findings: list[Finding], unlabelled: list[Finding], cache: Path) -> None:
    candidates = [
        finding
        for finding in (unlabelled if options.unlabelled else findings)
        if options.severity in (None, finding["severity"]) and finding["code"].startswith(options.rule or "DEV")
    ]
    taken = draw(candidates, options.draw, options.seed, options.per_rule)
    name = options.draw_name or {"error": "error-tier", "warning": "warnings"}.get(options.severity, "second")
    if options.out is None:
        print(*(f"\n[{number}] {words(finding)}" for number, finding in enumerate(taken, 1)), sep="\n")
        return
    with options.out.open("w", encoding="utf-8") as file:
        for finding in taken:
            directory = unpacked(finding["package"], finding["version"], cache)
            file.write(json.dumps(to_be_labelled(finding, name, directory), ensure_ascii=False) + "\n")
    print(f"\n{len(taken)} of {len(candidates)} findings, drawn with seed {options.seed} as {name}: {options.out}")


def main() -> None:
    options = arguments()
    cache = checked_cache(options.cache)
    try:
        labels = read_labels(options.labels) if options.labels.exists() else []
    except ValueError as error:
        raise SystemExit(str(error)) from None
    right = True
    print(HEAD)
    earlier = loaded(options.source, options.packages) if options.source else []
    measured: list[Measured] = []
    for package in [release.package for release in earlier] or options.packages or RELEASES:
        known = [release for release in earlier if release.package == package]
        release, trouble = (known[0], "") if known else measure(package, cache)
        measured.append(release)
        name = f"{package} {release.version}"
        print(row(package, release.files, release.lines, release.seconds, release.findings), flush=True)
        if trouble:
            right = False
            print(f"{'':18} NOT ALL ANALYSED: {trouble}")
        if options.shuffle or options.compare_jobs:
            linted = LintedRelease(name, unpacked(package, release.version, cache), release.findings)
            if options.shuffle:
                right &= report_other_run(linted, "in random order", shuffled(linted.directory, options.seed), None)
            for jobs in (1, 2) if options.compare_jobs else ():
                right &= report_other_run(linted, f"-j {jobs}", ["."], jobs)
    print_totals(measured)
    if options.save:
        options.save.write_text(json.dumps(saved(measured)) + "\n", encoding="utf-8")
    findings = [finding for release in measured for finding in release.placed]
    pinned = {(release.package, release.version) for release in measured}
    own_labels = [label for label in labels if (label.package, label.version) in pinned]
    unlabelled = print_precision(findings, own_labels, options.list)
    if len(own_labels) < len(labels):
        print(f"{len(labels) - len(own_labels)} labels belong to releases that were not looked at")
    if options.draw:
        write_draw(options, findings, unlabelled, cache)
    if options.alone or options.slowest:
        releases = [LintedRelease(f"{m.package} {m.version}", unpacked(m.package, m.version, cache), m.findings)
                    for m in measured]  # fmt: skip
        if options.alone:
            right &= report_alone(releases, options.alone, options.seed, jobs=2)
        if options.slowest:
            report_slowest(releases, 40)
    raise SystemExit(0 if right else 1)


if __name__ == "__main__":
    main()
