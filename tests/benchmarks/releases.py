"""What devlint says of pinned releases from PyPI: findings by rule, time, and a seeded draw to read by hand.

    python tests/benchmarks/releases.py                      all releases
    python tests/benchmarks/releases.py timm kornia          some of them
    python tests/benchmarks/releases.py --draw 60 --seed 1   and a draw of findings, at most eight of a rule
    python tests/benchmarks/releases.py --compare-jobs       and that -j 1 and -j 2 print the same bytes

Wheels are downloaded once into ``--cache`` and unpacked; nothing of them is installed or imported.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

RELEASES = {
    "transformers": "5.23.0",
    "diffusers": "0.42.1",
    "timm": "1.0.31",
    "torch-geometric": "2.8.1",
    "kornia": "0.9.0",
    "monai": "1.6.1",
    "speechbrain": "1.1.2",
    "botorch": "0.18.1",
}
A_RULE = 8
"""Findings of one rule a draw holds at most, so that a frequent rule does not crowd out the rest."""

Finding = dict[str, Any]


def unpacked(package: str, cache: Path) -> Path:
    """The directory of a release's files, downloaded on the first call."""
    target = cache / f"{package}-{RELEASES[package]}"
    if not target.is_dir():
        wheels = cache / "wheels" / package
        wheels.mkdir(parents=True, exist_ok=True)
        requirement = f"{package}=={RELEASES[package]}"
        download = ["pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", str(wheels), requirement]
        subprocess.run([sys.executable, "-m", *download], check=True)
        with zipfile.ZipFile(next(wheels.glob("*.whl"))) as wheel:
            wheel.extractall(target)
    return target


def lint(directory: Path, *options: str) -> tuple[bytes, int, float]:
    """devlint's JSON document, exit code and wall seconds."""
    command = [sys.executable, "-P", "-m", "devlint", "check", ".", "--isolated", "--output-format", "json", *options]
    started = time.perf_counter()
    done = subprocess.run(command, cwd=directory, capture_output=True, check=False)
    if done.returncode not in (0, 1) or not done.stdout:
        raise SystemExit(f"{directory.name}: exit {done.returncode}\n{done.stderr.decode()[-2000:]}")
    return done.stdout, done.returncode, time.perf_counter() - started


def report(package: str, directory: Path, compare_jobs: bool) -> list[Finding]:
    output, _, seconds = lint(directory, *(["-j", "2"] if compare_jobs else []))
    document = json.loads(output)
    findings: list[Finding] = document["findings"]
    lines = sum(path.read_bytes().count(b"\n") for path in directory.rglob("*.py"))
    per_rule = " ".join(f"{code}:{count}" for code, count in sorted(Counter(f["code"] for f in findings).items()))
    density = 10_000 * len(findings) / max(lines, 1)
    print(f"{package:16} {document['summary']['files']:5} files {lines:8} lines {seconds:6.1f} s "
          f"{len(findings):4} findings {density:5.2f} per 10,000 lines  {per_rule}")  # fmt: skip
    if compare_jobs:
        alone, _, _ = lint(directory, "-j", "1")
        same = json.loads(alone)["findings"] == findings
        print(f"{'':16} -j 1 and -j 2: {'the same findings' if same else 'DIFFERENT FINDINGS'}")
    return [{**finding, "package": package} for finding in findings]


def draw(findings: list[Finding], count: int, seed: int) -> list[Finding]:
    """A seeded sample, at most ``A_RULE`` of a rule."""
    order = sorted(findings, key=lambda f: (f["package"], f["path"], f["line"], f["column"], f["code"]))
    random.Random(seed).shuffle(order)
    taken: list[Finding] = []
    per_rule: Counter[str] = Counter()
    for finding in order:
        if per_rule[finding["code"]] < A_RULE and len(taken) < count:
            per_rule[finding["code"]] += 1
            taken.append(finding)
    return sorted(taken, key=lambda f: (f["code"], f["package"], f["path"], f["line"]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", choices=[*RELEASES, []], default=[])
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "devlint-benchmarks")
    parser.add_argument("--draw", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compare-jobs", action="store_true")
    options = parser.parse_args()
    findings: list[Finding] = []
    for package in options.packages or RELEASES:
        findings += report(package, unpacked(package, options.cache), options.compare_jobs)
    for number, finding in enumerate(draw(findings, options.draw, options.seed), 1):
        place = f"{finding['package']} {finding['path']}:{finding['line']}"
        print(f"\n[{number}] {place} {finding['code']} {finding['severity']} {finding['confidence']}")
        print(f"    in {finding['scope']}: {finding['message']}")
        for step in finding["trace"]:
            print(f"    {step['path']}:{step['line']} {step['message']} [{step['device']}]")


if __name__ == "__main__":
    main()
