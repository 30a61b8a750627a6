"""How often parameter names and uses tell what a parameter is, over annotated releases.

    python tests/benchmarks/conventions.py --names FILE.md --uses FILE.md       the releases of kinds.py and releases.py
    python tests/benchmarks/conventions.py RELEASE... --top 200 --least 20      name==version, or directories

Every annotated parameter counts once for its name, and once for each use that its function makes of it before binding
the name anew. The kinds are those of typed/annotation.py; "mixed" is a union of kinds, or nobody knows; "other" is none
of the rest (a dtype, a callable, a class of the package). "mean" is the mean of the tensor share over the releases that
have three or more, so that no release decides alone.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator
from pathlib import Path

from downloads import DEFAULT_CACHE, checked_cache
from kinds import ANNOTATED
from mutants import release_of
from releases import RELEASES
from typed.annotation import KINDS, Kind
from typed.places import Typed, read_files, typed
from typed.uses import Tally, signs_of, tallied

Sign = tuple[str, str, Kind]
"""A name or a use, a release, and the kind of a parameter that shows it."""

COLUMNS: tuple[Kind, ...] = (*KINDS, "other", "mixed")


def of_names(release: str, known: Typed) -> Iterator[tuple[str, str, Kind]]:
    for place, kind in known.truth.items():
        if place.name != "return":
            yield place.name, release, kind


def of_uses(release: str, files: dict[str, str], known: Typed) -> Iterator[tuple[str, str, Kind]]:
    for path, text in files.items():
        for sign, kind in signs_of(path, ast.parse(text), known.truth):
            yield sign, release, kind


def table(title: str, tallies: dict[str, Tally], top: int, least: int) -> str:
    """Markdown, the commonest first."""
    lines = [
        f"| {title} | n | releases | mean | {' | '.join(COLUMNS)} |",
        "| --- " + "| ---: " * (len(COLUMNS) + 3) + "|",
    ]
    for sign, tally in [item for item in tallies.items() if item[1].count >= least][:top]:
        mean = tally.mean_share("tensor")
        shares = " | ".join(f"{100 * tally.share(kind):.1f}" if tally.kinds[kind] else "" for kind in COLUMNS)
        told = sign.replace("|", "\\|")
        lines.append(f"| `{told}` | {tally.count} | {len(tally.releases)} | {_percent(mean)} | {shares} |")
    return "\n".join(lines)


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("releases", nargs="*", metavar="RELEASE")
    parser.add_argument("--names", type=Path, metavar="FILE")
    parser.add_argument("--uses", type=Path, metavar="FILE")
    parser.add_argument("--top", type=int, default=200)
    parser.add_argument("--least", type=int, default=20, metavar="N", help="parameters that a use needs to be told")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    options = parser.parse_args()
    cache = checked_cache(options.cache)
    given = options.releases or [f"{name}=={version}" for name, version in (ANNOTATED | RELEASES).items()]
    names: list[Sign] = []
    uses: list[Sign] = []
    done: list[str] = []
    for name, directory in (release_of(one, cache) for one in given):
        files = read_files(directory, sorted(str(path.relative_to(directory)) for path in directory.rglob("*.py")))
        known = typed(files)
        names += of_names(name, known)
        uses += of_uses(name, files, known)
        done.append(name)
        if options.names is not None and options.uses is not None:
            write_tables(options, done, names, uses)  # what is there already can be read while the rest is looked at
    if not names:
        raise SystemExit("no parameter is annotated")
    write_tables(options, done, names, uses)


def write_tables(options: argparse.Namespace, done: list[str], names: list[Sign], uses: list[Sign]) -> None:
    counts = tallied(("all parameters", release, kind) for _, release, kind in names)
    head = f"Annotated parameters: {len(names)} of {len(done)} releases ({', '.join(done)}).\n\n"
    head += "Shares in per cent; `mean` is the mean tensor share over releases with three or more.\n\n"
    for file, title, signs, top, least in (
        (options.names, "parameter", names, options.top, 1),
        (options.uses, "use of a parameter `p`", uses, 100_000, options.least),
    ):
        told = f"{head}{table(title, {**counts, **tallied(signs)}, top + 1, least)}\n"
        if file is None:
            print(told)
        else:
            file.write_text(told, encoding="utf-8")


if __name__ == "__main__":
    main()
