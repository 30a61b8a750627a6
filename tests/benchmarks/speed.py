"""How fast devlint is, in terms of *the floor*: ``ast.parse`` of every file, read from disk, by as many processes.

    python tests/benchmarks/speed.py                             everything, on all corpora (half an hour)
    python tests/benchmarks/speed.py whole --corpus timm         one section, one corpus
    python tests/benchmarks/speed.py start stages --rounds 3
    python tests/benchmarks/speed.py --same                      are findings the same however they are made?

Sections: ``whole`` (a release cold, warm and with one file touched, beside other linters and type checkers where they
are installed: ruff, flake8, semgrep, mypy, pyright or basedpyright, pyrefly), ``start`` (single files,
beside the import of what they need), ``scaling`` (number of files, length of a file), ``stages`` (where the time goes),
``memory`` (peak of each process).

Every round runs every case once; a ratio is the median of the rounds' own ratios, so that other work on the machine
burdens both sides. ``wall`` is what a user waits, ``cpu`` the processor time of all processes. Each run is a process of
its own, start included. Corpora are pinned releases, downloaded once and copied to a temporary directory.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
import tempfile
from pathlib import Path

from downloads import DEFAULT_CACHE, checked_cache, unpacked
from releases import RELEASES
from same import report_same
from scaling import print_scaling
from speed_cases import print_single_files, print_whole
from speed_peers import print_peer_memory
from stages import print_stages
from timing import Command, peak_memory

import devlint

CORPORA = ("timm", "transformers", "diffusers")
SECTIONS = ("whole", "start", "scaling", "stages", "memory")

MEMORY_GOAL = 350
"""MiB, for any process."""


def corpus(package: str, cache: Path, scratch: Path) -> Path:
    """A copy of a release that may be changed."""
    original = unpacked(package, RELEASES[package], cache)
    copy = scratch / original.name
    if not copy.is_dir():
        shutil.copytree(original, copy)
    return copy


def print_memory(directory: Path, jobs: int) -> None:
    command = [sys.executable, "-P", "-m", "devlint", "check", "--isolated", "--no-respect-gitignore", "--no-cache"]
    peaks = peak_memory(Command([*command, "-j", str(jobs), "."], directory))
    print(f"  {directory.name:24} main process {peaks.parent:4.0f} MiB, largest worker {peaks.workers:4.0f} MiB "
          f"(goal: under {MEMORY_GOAL})")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(SECTIONS))
    parser.add_argument("--corpus", action="append", choices=CORPORA, help="repeatable; default: all")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("-j", "--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="where releases are unpacked")
    parser.add_argument("--no-peers", action="store_true", help="devlint and the floor alone")
    parser.add_argument("--largest", type=int, default=10_000, help="of the scaling table: files")
    parser.add_argument("--same", action="store_true", help="compare findings instead of times")
    options = parser.parse_args()
    if unknown := set(options.sections) - set(SECTIONS):
        parser.error(f"no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    sections = options.sections or list(SECTIONS)
    packages = options.corpus or list(CORPORA)
    cache = checked_cache(options.cache)

    print(f"devlint {devlint.__version__}, Python {platform.python_version()}, {options.jobs} processes, "
          f"load {os.getloadavg()[0]:.1f}, median of {options.rounds} rounds")  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="devlint-speed-") as name:
        scratch = Path(name)
        if options.same:
            alike = [report_same(corpus(package, cache, scratch), options.jobs) for package in packages]
            sys.exit(0 if all(alike) else 1)
        for package in packages if {"whole", "stages"} & set(sections) else ():
            directory = corpus(package, cache, scratch)
            if "whole" in sections:
                print_whole(directory, scratch, options.jobs, options.rounds, not options.no_peers)
            if "stages" in sections:
                print_stages(directory)
        if "start" in sections:
            print_single_files(scratch, options.rounds)
        if "scaling" in sections:
            print_scaling(scratch, options.jobs, options.rounds, options.largest)
        if "memory" in sections:
            print("\npeak memory, cold")
            for package in packages:
                directory = corpus(package, cache, scratch)
                print_memory(directory, options.jobs)
                if not options.no_peers:
                    print_peer_memory(directory, scratch, options.jobs)


if __name__ == "__main__":
    main()
