"""Runs of devlint ended at random moments, and what is left then: ``tests.benchmarks.kills [N] [SEED] [SIGNAL ...]``.

Each trial starts a run with two workers on a tree of its own, sends a signal after a random part of the time that such
a run takes, and looks: the exit code, the processes, every file, what was said, and what the next run says. SIGNAL is
one of SIGINT, SIGTERM, SIGKILL and ``worker``; without one they are all sent, in turn.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

FILES = 8
SAFE = "def f{0}(x: torch.Tensor) -> torch.Tensor:\n    return x + torch.arange(x.size(0))\n\n\n"
UNSAFE = "def g{0}(x: torch.Tensor) -> torch.Tensor:\n    return x + torch.randn(x.shape)\n\n\n"
TEXT = "import torch\n\n\n" + "".join(kind.format(n) for n in range(2) for kind in (SAFE, UNSAFE)) + "# padding\n" * 900
FIXED = TEXT.replace("torch.arange(x.size(0))", "torch.arange(x.size(0), device=x.device)")

SCENARIOS = {"check": ["-n"], "cached": [], "fix": ["-n", "--fix"]}
SIGNALS = {"SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM, "SIGKILL": signal.SIGKILL, "worker": signal.SIGKILL}
CODES = {
    "SIGINT": {130, -signal.SIGINT},
    "SIGTERM": {143, -signal.SIGTERM},
    "SIGKILL": {-signal.SIGKILL},
    "worker": {2},
}
"""What each comes to, if it comes before the end; -N is an end by signal N, while Python itself is starting."""

FINISHED = 1
"""Findings are left by every run: 0 would be a lie."""


_ENOUGH = 10
"""Runs of which a signal ends some, if it ends any."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of one run. ``problems`` is empty if it was as it must be."""

    scenario: str
    kind: str
    code: int
    litter: int
    """Hidden scratch files that a killed process could not remove."""
    problems: tuple[str, ...]


def command(scenario: str) -> list[str]:
    return [sys.executable, "-m", "devlint", "-j2", "--output-format", "concise", "-q", *SCENARIOS[scenario]]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}


def make_tree(directory: Path) -> None:
    (directory / "pyproject.toml").write_text("")
    for number in range(FILES):
        (directory / f"m{number}.py").write_text(TEXT)


def undisturbed(directory: Path, scenario: str) -> tuple[str, float]:
    """What a run says and how long it takes."""
    started = time.monotonic()
    done = subprocess.run(command(scenario), cwd=directory, env=environment(), capture_output=True, check=False)
    if done.returncode != FINISHED:
        raise RuntimeError(f"an undisturbed run ended with {done.returncode}: {done.stderr.decode()}")
    return done.stdout.decode(), time.monotonic() - started


def children(process: int) -> list[int]:
    """The processes that a process has started, as Linux tells them."""
    try:
        return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except (OSError, ValueError):
        return []


def trial(seed: int, scenario: str, kind: str, seconds: float, expected: str) -> Trial:
    """One run, ended once. ``seconds`` is how long it would take, ``expected`` what a check says of the fresh tree."""
    draw = random.Random(f"{seed} {scenario} {kind}")
    directory = Path(tempfile.mkdtemp(prefix="devlint-kills-"))
    try:
        make_tree(directory)
        with subprocess.Popen(
            command(scenario), cwd=directory, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process:  # fmt: skip
            time.sleep(draw.uniform(0, seconds * 1.05))
            _send(process, kind, draw)
            try:
                _, said = process.communicate(timeout=120)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return Trial(scenario, kind, 0, 0, ("it hangs",))
        problems = [*_problems(process.returncode, kind, said.decode(errors="replace"))]
        if _lives_on(process.pid):
            problems.append("a process outlives it")
        litter = [path for path in directory.rglob("*") if path.name.startswith((".devlint-", ".m"))]
        if litter and kind != "SIGKILL":
            problems.append(f"left behind: {litter[0].name}")
        states = {path.read_text() for path in directory.glob("m*.py")}
        if not states <= {TEXT, FIXED} or (scenario != "fix" and states != {TEXT}):
            problems.append("a file is half written")
        make_tree(directory)
        again, _ = undisturbed(directory, "cached" if scenario == "cached" else "check")
        if again != expected:
            problems.append("the next run says something else")
        return Trial(scenario, kind, process.returncode, len(litter), tuple(problems))
    finally:
        shutil.rmtree(directory)


def _send(process: subprocess.Popen[bytes], kind: str, draw: random.Random) -> None:
    workers = children(process.pid)
    if kind != "worker":
        # Ctrl-C in a terminal reaches every process of the group.
        if kind == "SIGINT" and draw.random() < 0.5:
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.send_signal(SIGNALS[kind])
    elif workers:
        try:
            os.kill(draw.choice(workers), signal.SIGKILL)
        except ProcessLookupError:
            return


def _problems(code: int, kind: str, said: str) -> Iterator[str]:
    if code not in {FINISHED, *CODES[kind]}:
        yield f"exit code {code}"
    # Before its first line has run a program cannot keep Python from telling of an interrupt.
    if "Traceback" in said and "devlint/" in said:
        yield f"a traceback: {said.strip().splitlines()[-1]}"
    if kind == "worker" and code not in (FINISHED, 2):
        yield "a worker's death is not told"


def _lives_on(group: int) -> bool:
    """Whether a process of a group is there still after ten seconds."""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.1)
    os.killpg(group, signal.SIGKILL)
    return True


def trials(number: int, seed: int, kinds: Collection[str] = SIGNALS) -> Iterator[Trial]:
    """As many trials as wished, the scenarios and signals in turn."""
    # Started in the background a shell's job ignores SIGINT, and so would all that it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    directory = Path(tempfile.mkdtemp(prefix="devlint-kills-"))
    try:
        make_tree(directory)
        expected, _ = undisturbed(directory, "check")
        seconds = {}
        for scenario in SCENARIOS:
            make_tree(directory)
            seconds[scenario] = undisturbed(directory, scenario)[1]
    finally:
        shutil.rmtree(directory)
    combinations = [(scenario, kind) for scenario in SCENARIOS for kind in kinds]
    for index in range(number):
        scenario, kind = combinations[index % len(combinations)]
        yield trial(seed + index, scenario, kind, seconds[scenario], expected)


def main(arguments: list[str]) -> int:
    number = int(arguments[0]) if arguments else 120
    seed = int(arguments[1]) if len(arguments) > 1 else 0
    kinds = arguments[2:] or [*SIGNALS]
    found: defaultdict[tuple[str, str], list[Trial]] = defaultdict(list)
    for one in trials(number, seed, kinds):
        found[one.scenario, one.kind].append(one)
        print(f"{one.scenario} {one.kind}: {one.code} {'; '.join(one.problems)}", file=sys.stderr, flush=True)
    print(f"{number} runs, seed {seed}\n\n| run | ended by | runs | exit codes | scratch files | problems |")
    print("| --- | --- | --- | --- | --- | --- |")
    failed = False
    for (scenario, kind), several in sorted(found.items()):
        codes = ", ".join(f"{code} × {n}" for code, n in sorted(Counter(one.code for one in several).items()))
        problems = Counter(problem for one in several for problem in one.problems)
        if len(several) >= _ENOUGH and all(one.code == FINISHED for one in several):
            problems["none was ended: the signal does not arrive"] = len(several)
        failed = failed or bool(problems)
        told = "; ".join(f"{problem} × {n}" for problem, n in problems.items()) or "none"
        print(f"| {scenario} | {kind} | {len(several)} | {codes} | {sum(one.litter for one in several)} | {told} |")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
