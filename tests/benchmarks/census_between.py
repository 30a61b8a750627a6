"""What two trees of devlint know of the same operands: how many that were unknown are known now, and the other way.

    python tests/benchmarks/census_between.py BEFORE NOW timm==1.0.31 ...     two work trees of devlint, and releases
    ... --all-pinned --sample 12 --seed 0                                     as for census.py

Each tree's own ``census.py`` lists its operands. They are matched by their places in the release. What only one tree
takes for an operand is counted apart: a site whose operands nobody knows is often no site.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from census import STATES
from downloads import DEFAULT_CACHE
from releases import RELEASES
from verdicts import text_table

NONE = "no operand"

_LIST = """
import json, sys
from pathlib import Path
from types import SimpleNamespace
import census
from devlint.pipeline.deep_stack import deep_stack

given, sample, seed, cache, out = sys.argv[1:]
options = SimpleNamespace(sample=int(sample), seed=int(seed), cache=Path(cache))

def listed():
    with open(out, "w") as file:
        for release in given.split():
            name, directory = census.release_of(release, options.cache)
            for operand in census.of_release(name, directory, options):
                file.write(json.dumps([operand.place, operand.state]) + "\\n")

with deep_stack(listed) as thread:
    thread.join()
"""


def states(tree: Path, releases: Sequence[str], options: argparse.Namespace, out: Path) -> dict[str, str]:
    """The state of each operand by its place, as one tree of devlint has it; the worst where a place has several.

    Raises CalledProcessError.
    """
    paths = os.pathsep.join(str(path) for path in (tree, tree / "tests" / "benchmarks"))
    arguments = [" ".join(releases), str(options.sample), str(options.seed), str(options.cache), str(out)]
    subprocess.run([sys.executable, "-P", "-c", _LIST, *arguments], check=True, env={**os.environ, "PYTHONPATH": paths})
    found: dict[str, str] = {}
    for line in out.read_text("utf-8").splitlines():
        place, state = json.loads(line)
        found[place] = max(found.get(place, state), state, key=STATES.index)
    return found


def changes(before: dict[str, str], now: dict[str, str]) -> Counter[tuple[str, str]]:
    """How many operands went from one state to another."""
    return Counter((before.get(place, NONE), now.get(place, NONE)) for place in {**before, **now})


def table(counts: Counter[tuple[str, str]]) -> list[list[str]]:
    """A row for each state before, a column for each state now."""
    columns = (*STATES, NONE)
    rows = [[was, *(str(counts[was, became]) for became in columns)] for was in columns]
    return [["before / now", *columns], *rows]


def fewer(counts: Counter[tuple[str, str]]) -> tuple[int, int]:
    """The unknown operands of all that both trees take for operands: before, and now."""
    both = {key: count for key, count in counts.items() if NONE not in key}
    before = sum(count for (was, _), count in both.items() if was == "unknown")
    return before, sum(count for (_, became), count in both.items() if became == "unknown")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("now", type=Path)
    parser.add_argument("releases", nargs="*", metavar="RELEASE", help="name==version, or a directory")
    parser.add_argument("--all-pinned", action="store_true")
    parser.add_argument("--sample", type=int, default=12, metavar="N", help="files a release [default: %(default)s]")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--keep", type=Path, default=Path(), metavar="DIR", help="for the lists of operands")
    options = parser.parse_args()
    pinned = [f"{name}=={version}" for name, version in RELEASES.items()] if options.all_pinned else []
    releases = [*options.releases, *pinned]
    if not releases:
        parser.error("give a release (name==version) or a directory, or --all-pinned")
    found = [
        states(tree.resolve(), releases, options, options.keep / f"operands_{name}.jsonl")
        for name, tree in (("before", options.before), ("now", options.now))
    ]
    counts = changes(*found)
    print(text_table(table(counts)))
    was, left = fewer(counts)
    both = sum(count for key, count in counts.items() if NONE not in key)
    print(f"of {both} operands of both: {was} unknown before, {left} now")


if __name__ == "__main__":
    main()
