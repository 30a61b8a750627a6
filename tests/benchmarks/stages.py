"""Where the time of a cold run goes, stage by stage, in one process.

The functions that a stage consists of are wrapped from outside, here, so that measuring costs devlint nothing when
nobody measures. A stage's time is its own, without that of the stages inside of it.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import get_ident
from typing import Any

START = "start"
REST = "the rest"

STAGES: dict[str, tuple[str, ...]] = {
    "discovery": ("devlint.check:plan",),
    "read": ("devlint.source.tree:WorkingTree.read", "devlint.source.decoding:decode"),
    "screen": ("devlint.source.screen:may_hold_findings",),
    "ast gate": ("devlint.source.gate:check_syntax", "devlint.source.gate:too_deep"),
    "outline": ("devlint.source.outline:outline_of",),
    "bare trees": ("devlint.source.bare.statements:module", "devlint.source.bare.statements:definition"),
    "LibCST trees": ("devlint.source.gate:parse_tree",),
    "imports": ("devlint.source.modules:ModuleFinder.locate",),
    "index": ("devlint.placement.declarations.index:index_file",),
    "walk": ("devlint.placement.project.analyse:analyse",),
    "rules": ("devlint.rules.engine:_drafts", "devlint.rules.engine:_resolve_precedence"),
    "positions": ("devlint.rules.engine:_finding",),
    "garbage": ("devlint.pipeline.workers:_collect_garbage",),
    "suppression": ("devlint.pipeline.file_report:_reported",),
    "report": ("devlint.cli.report:write_report",),
}
"""The functions of each stage. ``analyse`` hands out events one by one; only what it does between them is its own."""


class Clock:
    """Processor time by stage; each thread has its own stack of stages."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.calls: Counter[str] = Counter()
        self._stacks: dict[int, list[str]] = {}
        self._last: dict[int, float] = {}

    def _enter(self, stage: str) -> None:
        thread = get_ident()
        stack = self._stacks.setdefault(thread, [])
        now = time.thread_time()
        if stack:
            self.seconds[stack[-1]] += now - self._last[thread]
        stack.append(stage)
        self._last[thread] = now

    def _leave(self) -> None:
        thread = get_ident()
        now = time.thread_time()
        self.seconds[self._stacks[thread].pop()] += now - self._last[thread]
        self._last[thread] = now

    def timed(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The same function, or generator, under the clock."""

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            self.calls[stage] += 1
            self._enter(stage)
            try:
                result = function(*args, **kwargs)
            finally:
                self._leave()
            return self._timed_items(stage, result) if isinstance(result, Iterator) else result

        return wrapper

    def _timed_items(self, stage: str, items: Iterator[Any]) -> Iterator[Any]:
        while True:
            self._enter(stage)
            try:
                item = next(items, self)
            finally:
                self._leave()
            if item is self:
                return
            yield item


def profile(directory: Path) -> dict[str, tuple[float, int]]:
    """Seconds and calls of each stage of a cold run over a directory, in a process of its own."""
    command = [sys.executable, "-P", __file__, str(directory)]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"the profiled run ended with {done.returncode}\n{done.stderr[-2000:]}")
    found: dict[str, tuple[float, int]] = json.loads(done.stdout.splitlines()[-1])
    return found


def print_stages(directory: Path) -> None:
    stages = profile(directory)
    whole = sum(seconds for seconds, _ in stages.values())
    print(f"\nwhere the time goes: {directory.name}, one process, {whole:.1f} s of processor")
    for name, (seconds, calls) in stages.items():
        print(f"  {name:14} {seconds:8.2f} s {seconds / whole:7.1%} {calls or '':>9}")


def _install(clock: Clock) -> None:
    """Wrap every function wherever devlint's modules have bound it. Raises AttributeError for one that is gone."""
    modules = [module for name, module in sys.modules.items() if name.split(".")[0] == "devlint"]
    for stage, places in STAGES.items():
        for place in places:
            home, _, path = place.partition(":")
            owner: Any = importlib.import_module(home)
            *classes, name = path.split(".")
            for part in classes:
                owner = getattr(owner, part)
            original = getattr(owner, name)
            wrapped = clock.timed(stage, original)
            setattr(owner, name, wrapped)
            for module in modules:
                for bound in [bound for bound, value in vars(module).items() if value is original]:
                    setattr(module, bound, wrapped)


def _main() -> None:
    before = time.process_time()
    clock = Clock()
    import devlint.cli.main
    import devlint.placement.project.workspace
    import devlint.rules.engine
    import devlint.semantics.rulebook  # what a run imports when it first needs it counts as start
    import devlint.source.bare.lazy_parser

    start = time.process_time() - before
    _install(clock)
    with open("/dev/null", "w") as nowhere, contextlib.redirect_stdout(nowhere):
        code = devlint.cli.main.run(["check", "--isolated", "--no-respect-gitignore", "-nj", "1", sys.argv[1]])
    if code not in (0, 1):
        sys.exit(code)
    rest = time.process_time() - before - start - sum(clock.seconds[stage] for stage in STAGES)
    stages = {START: (start, 0)}
    stages.update({stage: (clock.seconds[stage], clock.calls[stage]) for stage in STAGES})
    stages[REST] = (rest, 0)
    print(json.dumps(stages))


if __name__ == "__main__":
    _main()
