"""Whether the working tree finds what an earlier revision finds, to the byte: for changes that alter no finding.

    python tests/benchmarks/pinned.py REVISION                        fixtures/ and three releases
    python tests/benchmarks/pinned.py REVISION --corpus fixtures --corpus transformers

Every rule, severity and confidence is compared, in the whole JSON document. The revision runs once, without a cache;
the working tree runs cold, filling a cache, from that cache, and with LibCST reading every file by itself.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from downloads import DEFAULT_CACHE, checked_cache, unpacked
from releases import RELEASES
from same import BY_LIBCST, OPTIONS
from steadiness import differences

ROOT = Path(__file__).resolve().parents[2]
CORPORA = ("fixtures", "timm", "captum", "gpytorch")

_VOLATILE = ("devlint", "seconds")
"""Keys of the document that tell of the program instead of the linted code."""


def revision_of_devlint(revision: str, target: Path) -> Path:
    """The package as it stood in a revision of this repository, in a directory that can be put on the import path."""
    done = subprocess.run(["git", "archive", revision, "devlint"], cwd=ROOT, capture_output=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"git archive {revision}: {done.stderr.decode().strip()}")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(target, filter="data")
    return target


def document(package: Path, directory: Path, program: list[str], *arguments: str) -> dict[str, Any]:
    """The JSON document that the devlint in ``package`` writes about a directory."""
    command = [sys.executable, "-P", *program, *OPTIONS, *arguments, "."]
    environment = {**os.environ, "PYTHONPATH": str(package)}
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, check=False)
    if done.returncode not in (0, 1, 2) or not done.stdout:
        raise SystemExit(f"{directory.name}: devlint ended with {done.returncode}\n{done.stderr.decode()[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return {key: value for key, value in found.items() if key not in _VOLATILE}


def compare(old: Path, directory: Path) -> bool:
    """Prints which ways of linting a directory come to the document of the old package."""
    plain = ["-m", "devlint"]
    expected = document(old, directory, plain, "--no-cache", "-j", "2")
    print(f"\n{directory.name}: {len(expected['findings']):,} findings of all rules, severities and confidences")
    with tempfile.TemporaryDirectory() as cache:
        ways = {
            "cold": (plain, "--no-cache", "-j", "2"),
            "filling a cache": (plain, "--cache-dir", cache, "-j", "2"),
            "from the cache": (plain, "--cache-dir", cache, "-j", "1"),
            "read by LibCST alone": (["-c", BY_LIBCST], "--no-cache", "-j", "2"),
        }
        alike = True
        for name, (program, *arguments) in ways.items():
            found = document(ROOT, directory, program, *arguments)
            same = found == expected
            print(f"  {name:28} {'the same' if same else 'DIFFERENT'}", flush=True)
            if not same:
                lines = differences(expected["findings"], found["findings"]) or ["outside of the findings"]
                print(*(f"    {line}" for line in lines[:20]), sep="\n")
            alike = alike and same
    return alike


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision")
    parser.add_argument("--corpus", action="append", help=f"fixtures or a release (default: {', '.join(CORPORA)})")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="where releases are kept")
    arguments = parser.parse_args()
    cache = checked_cache(arguments.cache)
    with tempfile.TemporaryDirectory() as scratch:
        old = revision_of_devlint(arguments.revision, Path(scratch))
        alike = True
        for name in arguments.corpus or CORPORA:
            directory = ROOT / name if name == "fixtures" else unpacked(name, RELEASES[name], cache)
            alike = compare(old, directory) and alike
    raise SystemExit(not alike)


if __name__ == "__main__":
    main()
