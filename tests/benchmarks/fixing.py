"""What fixing does to pinned releases from PyPI: does every file still compile, does it come to an end, is it clean?

    python tests/benchmarks/fixing.py                             all releases
    python tests/benchmarks/fixing.py timm kornia --diffs DIR     some of them; keep what was changed, to be read
    ... --jobs 1 --min-confidence low                             fix more than what the default gate shows
    ... --from run.json                                           what releases.py --save found before: half the time

Each release is fixed in a copy, with ``--fix --unsafe-fixes``: the files that have findings, for no other is changed.
Afterwards every file that compiled before must compile, a second run must change nothing, and, in all files of the
release, no definition may have more findings of a rule than it had before.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from downloads import DEFAULT_CACHE, checked_cache, unpacked
from linting import Finding, linted_files
from releases import RELEASES

_DEVLINT = [sys.executable, "-P", "-m", "devlint", "check", "--isolated", "--no-respect-gitignore", "--no-cache"]

Document = dict[str, Any]

_NOTHING: Document = {"summary": {"fixed": 0}, "findings": []}


@dataclass(frozen=True)
class Fixed:
    """What came of one release."""

    files: int
    fixed: int
    changed: int
    seconds: float
    trouble: str
    broken: list[str]
    """Files that compiled before and do not afterwards."""
    again: list[str]
    """Files that a second run changed."""
    new: list[str]
    """Findings that there were not before."""

    @property
    def right(self) -> bool:
        return not (self.trouble or self.broken or self.again or self.new)


def run(directory: Path, paths: list[str], arguments: list[str]) -> tuple[Document, str]:
    with tempfile.NamedTemporaryFile("w", suffix=".args") as named:
        named.write("\n".join(paths))
        named.flush()
        command = [*_DEVLINT, f"@{named.name}", "--output-format", "json", *arguments]
        done = subprocess.run(command, cwd=directory, capture_output=True, check=False)
    trouble = done.stderr.decode(errors="replace").strip() if done.returncode not in (0, 1) else ""
    if not done.stdout:
        raise SystemExit(f"{directory.name}: devlint ended with {done.returncode}\n{trouble[-2000:]}")
    return json.loads(done.stdout), trouble


def fix(original: Path, arguments: list[str], diffs: Path | None, known: list[Finding] | None) -> Fixed:
    """Fix a copy of an unpacked release, twice. ``known``: its findings, where they were looked for before."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / original.name
        shutil.copytree(original, copy)
        files = linted_files(copy)
        before = known if known is not None else run(copy, ["."], arguments)[0]["findings"]
        flagged = sorted({finding["path"] for finding in before})
        texts = contents(copy, files)
        started = time.perf_counter()
        fixing, trouble = run(copy, flagged, ["--fix", "--unsafe-fixes", *arguments]) if flagged else (_NOTHING, "")
        seconds = time.perf_counter() - started
        fixed = contents(copy, files)
        changed = [file for file in files if fixed[file] != texts[file]]
        if diffs is not None:
            done = subprocess.run(["diff", "-ru", str(original), str(copy)], capture_output=True, check=False)
            (diffs / f"{original.name}.diff").write_bytes(done.stdout)
        after = run(copy, ["."], arguments)[0]["findings"]
        left = sorted({finding["path"] for finding in after})
        if left:
            run(copy, left, ["--fix", "--unsafe-fixes", *arguments])
        once_more = contents(copy, files)
        return Fixed(
            files=len(files),
            fixed=fixing["summary"]["fixed"],
            changed=len(changed),
            seconds=seconds,
            trouble=trouble,
            broken=[file for file in changed if compiles(texts[file]) and not compiles(fixed[file])],
            again=[file for file in files if once_more[file] != fixed[file]],
            new=[" ".join(key) for key in sorted((counted(after) - counted(before)).elements())],
        )


def contents(directory: Path, files: list[str]) -> dict[str, bytes]:
    return {file: (directory / file).read_bytes() for file in files}


def compiles(source: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, "<release>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def counted(findings: list[Finding]) -> Counter[tuple[str, str, str]]:
    return Counter((finding["path"], finding["code"], finding["scope"]) for finding in findings)


def found_before(saved: Path) -> dict[str, list[Finding]]:
    """The findings of each release in a run that ``releases.py --save`` kept."""
    return {release["package"]: release["findings"] for release in json.loads(saved.read_text("utf-8"))["releases"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", choices=[*RELEASES, []], default=[], metavar="PACKAGE")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--diffs", type=Path, metavar="DIR", help="write what was changed there, a file a release")
    parser.add_argument(
        "--from", type=Path, metavar="FILE", dest="saved", help="findings before, by releases.py --save"
    )
    parser.add_argument("--jobs", "-j", type=int)
    parser.add_argument("--min-confidence", choices=["low", "medium", "high"], default="medium")
    options = parser.parse_args()
    cache = checked_cache(options.cache)
    if options.diffs is not None:
        options.diffs.mkdir(parents=True, exist_ok=True)
    arguments = ["--min-confidence", options.min_confidence, *(["-j", str(options.jobs)] if options.jobs else [])]
    known = found_before(options.saved) if options.saved is not None else {}
    right = True
    print(f"{'release':26} {'files':>5} {'fixed':>6} {'changed':>8} {'s':>7} {'broken':>7} {'again':>6} {'new':>4}")
    for package in options.packages or RELEASES:
        name = f"{package} {RELEASES[package]}"
        done = fix(unpacked(package, RELEASES[package], cache), arguments, options.diffs, known.get(package))
        right &= done.right
        print(
            f"{name:26} {done.files:5} {done.fixed:6} {done.changed:8} {done.seconds:7.1f} "
            f"{len(done.broken):7} {len(done.again):6} {len(done.new):4}",
            flush=True,
        )
        for kind, found in (("broken", done.broken), ("changed again", done.again), ("new", done.new)):
            for one in found:
                print(f"    {kind}: {one}")
        if done.trouble:
            print(f"    {done.trouble}")
    raise SystemExit(0 if right else 1)


if __name__ == "__main__":
    main()
