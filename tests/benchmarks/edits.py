"""Whether what the cache keeps after an edit is what would be computed: random edits of a release, one after the other.

    python tests/benchmarks/edits.py DIRECTORY --edits 100 --seed 1

After each edit of one file, every entry that the cache would keep though it depends on that file is computed again.
Not only its findings must be the same, but also every question that it rests on: a look at something that the entry
does not know of shows there long before it makes a finding. The edited file is put back after each edit.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import shutil
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import devlint.pipeline.workers
from devlint.cache.entries import Entry
from devlint.check import Request, check
from devlint.pipeline.file_report import analyse_file
from devlint.pipeline.path_symbols import absolute, relative
from devlint.pipeline.task import FileTask
from devlint.source.decoding import Unreadable, decode
from devlint.source.part_fingerprints import PartFingerprints
from devlint.source.program import program_of

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.cache.edits import edited


def tasks_of(directory: Path) -> list[FileTask]:
    """What a run over a directory hands to its workers."""
    found: list[FileTask] = []
    original = devlint.pipeline.workers.run
    devlint.pipeline.workers.run = lambda tasks, *_: found.extend(tasks) or iter(())  # type: ignore[assignment, func-returns-value]
    check(Request(paths=(".",), cwd=directory, cached=False))
    devlint.pipeline.workers.run = original
    return [replace(task, recorded=True) for task in found]


def entry_of(task: FileTask) -> Entry | None:
    record = analyse_file(task).record
    return Entry.of(record, task) if record is not None else None


def entries_of(tasks: Iterable[FileTask], jobs: int) -> dict[FileTask, Entry]:
    """Computed by new processes, which know nothing of earlier texts."""
    tasks = list(tasks)
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        found = pool.map(entry_of, tasks, chunksize=8)
    return {task: entry for task, entry in zip(tasks, found, strict=True) if entry is not None}


def fingerprints_now(path: Path) -> PartFingerprints | None:
    try:
        program = program_of(decode(path.read_bytes()).text)
    except Unreadable:
        return None
    return PartFingerprints(program) if program is not None else None


def questions(entry: Entry) -> dict[str, object]:
    """All that an entry rests on and comes to, but for the contents of files."""
    parsed = [(file, state.in_project, state.parts, state.fingerprint) for file, state in entry.parsed]
    return {
        "findings": entry.outcome, "parsed": parsed, "located": entry.located,
        "packages": entry.packages, "exact": entry.exact,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--edits", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=int, default=40, help="entries computed again after one edit")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    wrong = kept_in_all = dropped_in_all = 0
    with tempfile.TemporaryDirectory(prefix="devlint-edits-") as name:
        directory = Path(name) / options.directory.name
        shutil.copytree(options.directory, directory)
        tasks = tasks_of(directory)
        known = entries_of(tasks, options.jobs)
        asking: dict[str, list[FileTask]] = {}
        for task, entry in known.items():
            for file, _ in entry.parsed:
                asking.setdefault(absolute(file, task.base), []).append(task)
        print(f"{len(tasks)} files, {len(asking)} of them asked by others")
        files = sorted(asking)
        for number in range(options.edits):
            path = Path(draw.choice(files))
            before = path.read_bytes()
            try:
                text = decode(before).text
                after = edited(text, draw)
            except (Unreadable, SyntaxError):
                continue
            path.write_text(after, encoding="utf-8", newline="")
            found = fingerprints_now(path)
            kept: list[FileTask] = []
            for task in asking[str(path)]:
                entry = known[task]
                state = dict(entry.parsed)[relative(str(path), task.base)]
                holds = found is not None and found.of(state.parts) == state.fingerprint
                if holds and relative(str(path), task.base) not in entry.exact and not entry.mentions:
                    kept.append(task)
                else:
                    dropped_in_all += 1
            kept_in_all += len(kept)
            again = entries_of(draw.sample(kept, min(len(kept), options.most)), options.jobs) if kept else {}
            for task, entry in again.items():
                then, now = questions(known[task]), questions(entry)
                for key in then:
                    if then[key] != now[key]:
                        wrong += 1
                        print(f"edit {number} of {path.relative_to(directory)}: {key} of {task.in_project} differ")
                        for word, one, other in (("then", then[key], now[key]), ("now", now[key], then[key])):
                            print(f"  {word} {str(_only_in(one, other))[:2000]}")
                        print("\n".join(_difference(text, after)))
            path.write_bytes(before)
    print(f"{options.edits} edits: {kept_in_all} entries kept, {dropped_in_all} dropped, {wrong} wrongly kept")
    sys.exit(wrong > 0)


def _only_in(one: object, other: object) -> object:
    """What the other does not have: of what an entry read of a file, the parts."""
    if not isinstance(one, list) or not isinstance(other, list):
        return one
    parts = {file: set(read) for file, _, read, _ in other}
    return [
        (file, sorted(set(read) - parts.get(file, set())), fingerprint)
        for file, in_project, read, fingerprint in one
        if (file, in_project, read, fingerprint) not in other
    ]


def _difference(before: str, after: str) -> Iterable[str]:
    import difflib

    return difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1)


if __name__ == "__main__":
    main()
