"""One analysis as the packs hold it: what came of it, and the questions on whose answers that rests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from devlint.cache.reading import parsed
from devlint.cache.rows import Row, finding_row, read_finding
from devlint.source.asked import Told
from devlint.symbols import files_told, quotes_comment, relative
from devlint.task import FileTask, Record


@dataclass(frozen=True, slots=True)
class Entry:
    """Paths are counted from the base of the file's project, with forward slashes."""

    parsed: tuple[tuple[str, Told], ...]
    """The files whose programs were asked for."""
    exact: frozenset[str]
    """Those of them of which not only the program counts but every character."""
    budget: int
    located: tuple[tuple[str, str, str | None], ...]
    packages: tuple[tuple[str, bool], ...]
    used_inside: tuple[tuple[str, str, bool], ...]
    outcome: Row
    """What the rules said."""

    @classmethod
    def of(cls, record: Record, task: FileTask) -> Entry:
        base, asked = task.base, record.asked

        def name(path: str) -> str:
            return relative(path, base)

        # In an order of their own: what a process had read before has no say in it.
        parsed = tuple(sorted((name(path), told) for path, told in asked.parsed.items()))
        own = relative(task.path, base)
        all_of_them = quotes_comment(record.findings)
        exact = {file for file, _ in parsed} if all_of_them else set(files_told(record.findings)) - {own}
        refusal = record.refusal
        return cls(
            parsed=parsed,
            exact=frozenset(exact),
            budget=record.budget,
            located=tuple(
                (name(directory), module, None if found is None else name(found))
                for (directory, module), found in sorted(asked.located.items())
            ),
            packages=tuple(sorted((name(path), found) for path, found in asked.packages.items())),
            used_inside=tuple((name(path), word, found) for (path, word), found in sorted(asked.used_inside.items())),
            outcome=[
                [finding_row(finding) for finding in record.findings],
                None if refusal is None else [refusal.syntax, refusal.message, refusal.line, refusal.column],
                record.speaks,
            ],
        )

    @classmethod
    def read(cls, text: str) -> Entry:
        """Raises ValueError, TypeError or LookupError for a text that is none of ours."""
        found: dict[str, Any] = parsed(text)
        return cls(
            parsed=tuple(
                (file, Told(digest, in_project, size, tuple(parts), facts))
                for file, digest, in_project, size, parts, facts in found["parsed"]
            ),
            exact=frozenset(found["exact"]),
            budget=found["budget"],
            located=tuple((directory, module, where) for directory, module, where in found["located"]),
            packages=tuple((path, bool(answer)) for path, answer in found["packages"]),
            used_inside=tuple((path, word, bool(answer)) for path, word, answer in found["used"]),
            outcome=found["outcome"],
        )

    def written(self) -> str:
        return json.dumps(
            {
                "parsed": [[file, *told] for file, told in self.parsed],
                "exact": sorted(self.exact),
                "budget": self.budget,
                "located": self.located,
                "packages": self.packages,
                "used": self.used_inside,
                "outcome": self.outcome,
            },
            separators=(",", ":"),
        )

    @property
    def silent(self) -> bool:
        """Whether nothing is to be said of the file, whatever the settings are."""
        findings, refusal, speaks = self.outcome
        return not (findings or refusal or speaks)

    def findings(self) -> Iterable[Any]:
        return map(read_finding, self.outcome[0])


def fits(sizes: Iterable[tuple[int, int]], budget: int) -> bool:
    """Whether files of other sizes, by pairs of then and now, are looked into as far as they were.

    Where there are too many of them, it depends on the size of each which are left out.
    """
    pairs = list(sizes)
    return all(then == now for then, now in pairs) or all(sum(total) < budget for total in zip(*pairs, strict=True))


def key_of(task: FileTask, digest: str) -> str:
    """What is known of a file before anything is asked: its content, its place in its project, its import roots."""
    about = f"{digest}\0{relative(task.path, task.base)}\0{source_roots(task)}"
    return hashlib.blake2b(about.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def source_roots(task: FileTask) -> str:
    return "\0".join(relative(str(root), task.base) for root in task.src)
