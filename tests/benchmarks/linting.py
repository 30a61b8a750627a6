"""devlint run on a release as a user runs it: a process of its own, in the release's directory, not configured."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Finding = dict[str, Any]
"""One finding, as in devlint's JSON document; ``package`` and ``version`` are added where releases come together."""

_DEVLINT = [sys.executable, "-P", "-m", "devlint", "check", "--isolated", "--no-respect-gitignore"]
_ALL = ["--select", "ALL", "--min-severity", "note", "--min-confidence", "low"]


@dataclass(frozen=True)
class Run:
    """One run: what it found, what it could not analyse (devlint's own words), wall seconds with devlint's start."""

    findings: list[Finding]
    files: int
    trouble: str
    seconds: float


def lint(
    directory: Path,
    paths: Sequence[str] = (".",),
    jobs: int | None = None,
    options: Sequence[str] = (),
    *,
    hidden: bool = False,
    cache: Path | None = None,
    seconds_limit: float | None = None,
) -> Run:
    """The default-gate findings of ``paths``, which are relative to ``directory``; with ``hidden`` all findings.

    ``options`` are further ones of devlint check.

    ``cache``: where devlint keeps its results. Past ``seconds_limit`` the run ends and is trouble. Raises SystemExit
    on wrong usage.
    """
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as arguments:
        arguments.write("\n".join(paths))
        arguments.flush()
        command = [*_DEVLINT, "--output-format", "json", *([] if jobs is None else ["-j", str(jobs)]), *options]
        command += [*(_ALL if hidden else []), *(["--no-cache"] if cache is None else ["--cache-dir", str(cache)])]
        command.append(f"@{arguments.name}")
        started = time.perf_counter()
        try:
            done = subprocess.run(command, cwd=directory, capture_output=True, check=False, timeout=seconds_limit)
        except subprocess.TimeoutExpired:
            return Run([], 0, f"not done after {seconds_limit:.0f} s", time.perf_counter() - started)
        seconds = time.perf_counter() - started
    trouble = done.stderr.decode(errors="replace").strip() if done.returncode not in (0, 1) else ""
    if not done.stdout:
        raise SystemExit(f"{directory.name}: devlint ended with {done.returncode}\n{trouble[-2000:]}")
    document = json.loads(done.stdout)
    if trouble:
        failed = [f"{f['path']}: {f['message']}" for f in document["findings"] if f["code"] == "DEV902"]
        trouble = "\n".join([*failed, trouble])
    return Run(document["findings"], document["summary"]["files"], trouble, seconds)


def linted_files(directory: Path) -> list[str]:
    """The files that linting the whole release looks at, relative to it."""
    done = subprocess.run(
        [*_DEVLINT, "--no-cache", ".", "--show-files"], cwd=directory, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def line_count(directory: Path, paths: Iterable[str]) -> int:
    """Lines of these files, blank ones and comments included."""
    return sum((directory / path).read_bytes().count(b"\n") for path in paths)


def per_ten_thousand(findings: int, lines: int) -> float:
    """Findings per 10,000 lines."""
    return 10_000 * findings / lines if lines else 0.0
