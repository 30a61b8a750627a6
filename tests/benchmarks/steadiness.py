"""Whether findings depend on anything but the code: on the other files of a run, their order, the number of workers."""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from linting import Finding, lint, linted_files


def differences(whole: list[Finding], other: list[Finding]) -> list[str]:
    """What one run says and the other does not, in words; empty if both say the same."""
    said: list[str] = []
    for finding, where in [(f, "only in the whole run") for f in whole if f not in other] + [
        (f, "not in the whole run") for f in other if f not in whole
    ]:
        said.append(f"{where}: {finding['path']}:{finding['line']}:{finding['column']} {finding['code']}")
    if not said and whole != other:
        said.append("the same findings in another order")
    return said


@dataclass(frozen=True)
class LintedRelease:
    """A release and what was found in it when all its files were linted together."""

    name: str
    directory: Path
    findings: list[Finding]


def drawn_files(releases: list[LintedRelease], count: int, seed: int) -> list[tuple[LintedRelease, str]]:
    """Half of them with findings, as far as there are so many; the others have none but name torch."""
    speaking: list[tuple[LintedRelease, str]] = []
    silent: list[tuple[LintedRelease, str]] = []
    for release in releases:
        with_findings = {finding["path"] for finding in release.findings}
        for path in linted_files(release.directory):
            if path in with_findings:
                speaking.append((release, path))
            elif b"torch" in (release.directory / path).read_bytes():
                silent.append((release, path))
    order = random.Random(seed)
    order.shuffle(speaking)
    order.shuffle(silent)
    half = speaking[: (count + 1) // 2]
    return half + silent[: count - len(half)]


def report_alone(releases: list[LintedRelease], count: int, seed: int, jobs: int) -> bool:
    """Prints whether drawn files linted alone have the findings they have in the whole run."""
    files = drawn_files(releases, count, seed)

    def one(file: tuple[LintedRelease, str]) -> list[str]:
        release, path = file
        whole = [finding for finding in release.findings if finding["path"] == path]
        return [f"{release.name} {line}" for line in differences(whole, lint(release.directory, [path], 1).findings)]

    with ThreadPoolExecutor(jobs) as pool:
        compared = list(pool.map(one, files))
    with_findings = sum(any(f["path"] == path for f in release.findings) for release, path in files)
    different = sum(map(bool, compared))
    same = len(files) - different
    print(f"\nalone: {len(files)} files ({with_findings} with findings): {same} the same as in the whole run, "
          f"{different} DIFFERENT")  # fmt: skip
    for lines in compared:
        print(*(f"  {line}" for line in lines), sep="\n", end="\n" if lines else "")
    return not different


def report_other_run(release: LintedRelease, what: str, paths: list[str], jobs: int | None) -> bool:
    """Prints whether another run over the same files has the same findings in the same order."""
    run = lint(release.directory, paths, jobs)
    different = differences(release.findings, run.findings)
    print(f"{'':18} {what}: {'DIFFERENT FINDINGS' if different else 'the same findings'} ({run.seconds:.1f} s)")
    for line in different:
        print(f"{'':18}   {line}")
    return not different


def shuffled(directory: Path, seed: int) -> list[str]:
    """All files of a release, named one by one in random order."""
    paths = linted_files(directory)
    random.Random(seed).shuffle(paths)
    return paths


def report_slowest(releases: list[LintedRelease], count: int) -> None:
    """Times each of the ``count`` largest files alone, one at a time, and prints the slowest of them."""
    files = [(release, path) for release in releases for path in linted_files(release.directory)]
    files.sort(key=lambda file: (file[0].directory / file[1]).stat().st_size, reverse=True)
    timed: list[tuple[float, str]] = []
    for release, path in files[:count]:
        lines = (release.directory / path).read_bytes().count(b"\n")
        seconds = lint(release.directory, [path], 1).seconds
        timed.append((seconds, f"{release.name} {path} ({lines} lines)"))
    started = time.perf_counter()
    lint(Path(__file__).parent, ["conftest.py"], 1)
    start = time.perf_counter() - started
    print(f"\nslowest of the {len(timed)} largest files, each linted alone ({start:.2f} s of each are the start):")
    for seconds, words in sorted(timed, reverse=True)[:10]:
        print(f"  {seconds:6.2f} s  {words}")
