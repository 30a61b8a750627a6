"""What ``--fix`` and ``--diff`` do and say."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from devlint.check import Request
from devlint.cli.report import Destination, write_document, write_report
from devlint.cli.terminal import ProgressBar, forget_stdout, wants_color
from devlint.configuration.config import Settings
from devlint.fix import Fixing, fix
from devlint.fixes.difference import unified
from devlint.reports.painting import Line, paint, visible
from devlint.reports.summary import counted, fixed_line


@dataclass(frozen=True, slots=True)
class FixOptions:
    """What is to be fixed and what is said of it, by the options over the configuration."""

    fix: bool
    unsafe: bool
    diff: bool
    only: bool
    show: bool
    exit_non_zero: bool

    @classmethod
    def of(cls, options: dict[str, Any], settings: Settings) -> FixOptions:
        only = settings.fix_only if options["fix_only"] is None else options["fix_only"]
        wished = settings.fix if options["fix"] is None else options["fix"]
        return cls(
            fix=wished or only,
            unsafe=settings.unsafe_fixes if options["unsafe_fixes"] is None else options["unsafe_fixes"],
            diff=options["diff"],
            only=only,
            show=settings.show_fixes if options["show_fixes"] is None else options["show_fixes"],
            exit_non_zero=options["exit_non_zero_on_fix"],
        )

    @property
    def any(self) -> bool:
        return self.fix or self.diff


def fix_files(
    request: Request, options: FixOptions, to: Destination, bar: ProgressBar, note: Callable[[str], None]
) -> tuple[Fixing, int]:
    """Fix, or show what fixing would change, and report; the second value is the exit code."""
    with bar:
        fixing = fix(request, options.unsafe, write=not options.diff, progress=bar.advance)
    for path, problem in fixing.problems:
        note(f"{path} is not fixed: {problem}")
    if options.diff:
        write_document(_painted_diff(fixing, wants_color(to.color, to.stream, os.environ)), to)
    elif request.stdin is not None:
        _write_bytes(fixing.files[0].after if fixing.changed else request.stdin)
    result = fixing.result
    if options.show:
        _say(_fixed_by_file(fixing), to)
    if not (options.diff or options.only):
        write_report(result, replace(to, on_stderr=request.stdin is not None))
    elif not to.quiet and result.files:
        _say([fixed_line(result, would=options.diff, unsafe=options.unsafe)], to)
    return fixing, _exit_code(fixing, options)


def _exit_code(fixing: Fixing, options: FixOptions) -> int:
    """2 where something could not be read or written; else 1 if anything is left, or, as told, if there was to fix."""
    result = fixing.result
    if fixing.problems or result.exit_code == 2:
        return 2
    if options.diff:
        return int(bool(fixing.changed))
    if options.exit_non_zero and result.fixed:
        return 1
    return 0 if options.only else result.exit_code


def _painted_diff(fixing: Fixing, color: bool) -> str:
    styles = {"+": "green", "-": "red", "@": "cyan"}
    shown: list[str] = []
    for file in fixing.changed:
        for line in unified(file.task.path, file.task.shown_as, file.before, file.after):
            style = "bold" if line.startswith(("+++", "---")) else styles.get(line[0], "")
            # A patch is kept as it is; what is coloured is for eyes alone.
            shown.append(paint([[(visible(line.rstrip("\n")), style)]], color) if color else line)
    return "".join(shown)


def _fixed_by_file(fixing: Fixing) -> Iterator[Line]:
    yield [(f"Fixed {counted(fixing.result.fixed or 0, 'finding')}:", "bold")]
    for file in fixing.changed:
        yield [("- ", ""), (visible(file.task.shown_as), "bold"), (":", "")]
        counts = Counter((finding.code, finding.name) for finding in file.applied)
        for (code, name), number in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
            yield [(f"    {number} × ", ""), (code, "bold"), (f" ({name})", "")]


def _say(lines: Any, to: Destination) -> None:
    sys.stderr.write(paint(lines, wants_color(to.color, sys.stderr, os.environ)))


def _write_bytes(data: bytes) -> None:
    """The fixed text, in its own encoding and with its own line ends."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        forget_stdout()
