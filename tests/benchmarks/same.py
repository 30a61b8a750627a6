"""Whether findings are the same however they are made.

With and without cache, screen, the first pass over bare trees, and worker processes.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from steadiness import differences

Finding = dict[str, Any]

OPTIONS = ["check", "--isolated", "--no-respect-gitignore", "--output-format", "json", "--select", "ALL"]
OPTIONS += ["--min-severity", "note", "--min-confidence", "low"]

_UNSCREENED = """
import sys
import devlint.pipeline.file_report
from devlint.cli.main import main
devlint.pipeline.file_report.may_hold_findings = lambda source: True
main(sys.argv[1:])
"""

BY_LIBCST = """
import sys
import devlint.pipeline.stages.first_pass
import devlint.source.bare.nodes
from devlint.cli.main import main

def refuse(*arguments):
    raise devlint.source.bare.nodes.NeedsLayout

devlint.pipeline.stages.first_pass._scopes_in_bare_trees = refuse
main(sys.argv[1:])
"""


def _findings(directory: Path, program: list[str], *arguments: str) -> list[Finding]:
    command = [sys.executable, "-P", *program, *OPTIONS, *arguments, "."]
    done = subprocess.run(command, cwd=directory, capture_output=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{directory.name}: devlint ended with {done.returncode}\n{done.stderr.decode()[-2000:]}")
    found: list[Finding] = json.loads(done.stdout)["findings"]
    return found


def report_same(directory: Path, jobs: int) -> bool:
    """Prints which ways of looking at a release come to the findings of the plainest: all rules, nothing hidden."""
    program = ["-m", "devlint"]
    several = ["-j", str(max(jobs, 2))]
    plain = _findings(directory, program, "--no-cache", "-j", "1")
    print(f"\n{directory.name}: {len(plain):,} findings of all rules, severities and confidences")
    with tempfile.TemporaryDirectory() as cache:
        ways = {
            "several processes": (program, "--no-cache", *several),
            "without the screen": (["-c", _UNSCREENED], "--no-cache", *several),
            "read by LibCST alone": (["-c", BY_LIBCST], "--no-cache", *several),
            "filling a cache": (program, "--cache-dir", cache, *several),
            "from the cache": (program, "--cache-dir", cache, *several),
            "from the cache, one process": (program, "--cache-dir", cache, "-j", "1"),
        }
        alike = True
        for name, (start, *arguments) in ways.items():
            different = differences(plain, _findings(directory, start, *arguments))
            print(f"  {name:28} {'DIFFERENT' if different else 'the same'}")
            print(*(f"    {line}" for line in different[:20]), sep="\n", end="\n" if different else "")
            alike = alike and not different
    return alike
