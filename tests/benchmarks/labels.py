"""What readers said of devlint's findings in released packages, and the precision that follows from it.

    python tests/benchmarks/labels.py DRAWN.jsonl...    adds filled-in draws to fixtures/releases_labels.jsonl

A label belongs to one finding of one release: the same package, version, path, rule and fingerprint. A finding is
*true* if some input that the function's contract allows, placed on an accelerator, makes it fail, compute wrongly or
land on the wrong device; it is *unclear* if the code that is there does not decide it.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from linting import Finding

LABELS = Path(__file__).parents[2] / "fixtures" / "releases_labels.jsonl"

VERDICTS = ("true", "false", "unclear")
DRAWS = ("error-tier", "warnings", "second")
"""All errors read one by one, a sample of the warnings, and a later sample that no repair has seen."""

Key = tuple[str, str, str, str, str]
"""Package, version, path, rule and fingerprint."""


@dataclass(frozen=True)
class Label:
    """What a reader said of one finding."""

    package: str
    version: str
    path: str
    scope: str
    rule: str
    fingerprint: str
    line: int
    label: str
    why: str
    severity: str
    draw: str

    @property
    def key(self) -> Key:
        return (self.package, self.version, self.path, self.rule, self.fingerprint)


_FIELDS = [field.name for field in fields(Label)]


def parse_label(record: Any) -> Label:
    """A label from its JSON object, in which a draw's further fields are passed over. Raises ValueError."""
    if not isinstance(record, dict):
        raise ValueError("not an object")
    missing = [name for name in _FIELDS if name not in record]
    if missing:
        raise ValueError(f"without {', '.join(missing)}")
    label = Label(**{name: record[name] for name in _FIELDS})
    for name in _FIELDS:
        if not isinstance(getattr(label, name), int if name == "line" else str):
            raise ValueError(f"{name} is {getattr(label, name)!r}")
    if label.label not in VERDICTS:
        raise ValueError(f"label is {label.label!r}, not one of {', '.join(VERDICTS)}")
    if label.draw not in DRAWS:
        raise ValueError(f"draw is {label.draw!r}, not one of {', '.join(DRAWS)}")
    if not label.why.strip() or "\n" in label.why:
        raise ValueError("why must be one line")
    return label


def read_labels(*files: Path) -> list[Label]:
    """All labels of these files; a finding drawn twice has one verdict. Raises ValueError with file and line."""
    labels: list[Label] = []
    said: dict[Key, str] = {}
    drawn: set[tuple[Key, str]] = set()
    for file in files:
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if not line.strip():
                continue
            try:
                label = parse_label(json.loads(line))
            except ValueError as error:
                raise ValueError(f"{file}:{number}: not a label: {error}") from None
            if said.setdefault(label.key, label.label) != label.label:
                raise ValueError(f"{file}:{number}: labelled {label.label}, and {said[label.key]} before")
            if (label.key, label.draw) in drawn:
                raise ValueError(f"{file}:{number}: labelled twice in the draw {label.draw}")
            drawn.add((label.key, label.draw))
            labels.append(label)
    return labels


def key_of(finding: Finding) -> Key:
    """The key that a label of this finding has."""
    return (finding["package"], finding["version"], finding["path"], finding["code"], finding["fingerprint"])


@dataclass(frozen=True)
class Matched:
    """Labels and findings brought together."""

    judged: list[tuple[Finding, Label]]
    """Each labelled finding once."""
    unlabelled: list[Finding]
    gone: list[Label]
    """Labels, each finding once, of which no finding is left: a repaired false alarm, or a true finding lost."""


def match(findings: Iterable[Finding], labels: Iterable[Label]) -> Matched:
    """By key; what is left, by rule and line, since a rule may come to flag another part of the same line."""
    open_labels = {label.key: label for label in labels}
    judged: list[tuple[Finding, Label]] = []
    rest: list[Finding] = []
    for finding in findings:
        label = open_labels.pop(key_of(finding), None)
        if label is None:
            rest.append(finding)
        else:
            judged.append((finding, label))
    by_place = {(*label.key[:4], label.line): label for label in open_labels.values()}
    unlabelled: list[Finding] = []
    for finding in rest:
        label = by_place.pop((*key_of(finding)[:4], finding["line"]), None)
        if label is None:
            unlabelled.append(finding)
        else:
            del open_labels[label.key]
            judged.append((finding, label))
    return Matched(judged, unlabelled, list(open_labels.values()))


@dataclass(frozen=True)
class Tally:
    """Verdicts counted."""

    true: int = 0
    false: int = 0
    unclear: int = 0

    @classmethod
    def of(cls, labels: Iterable[Label]) -> Tally:
        return cls.of_verdicts(label.label for label in labels)

    @classmethod
    def of_verdicts(cls, verdicts: Iterable[str]) -> Tally:
        counts = Counter(verdicts)
        return cls(counts["true"], counts["false"], counts["unclear"])

    @property
    def all(self) -> int:
        return self.true + self.false + self.unclear

    @property
    def precision(self) -> float | None:
        """True among the decided ones; None when none is decided."""
        return self.true / (self.true + self.false) if self.true + self.false else None

    @property
    def least(self) -> float | None:
        """The same with every unclear finding taken as false."""
        return self.true / self.all if self.all else None

    def lower_bound(self, z: float = 1.96) -> float | None:
        """The lower end of the 95 % Wilson interval of ``precision``."""
        decided = self.true + self.false
        if self.precision is None:
            return None
        centre = self.precision + z * z / (2 * decided)
        spread = z * math.sqrt(self.precision * (1 - self.precision) / decided + z * z / (4 * decided * decided))
        return max(0.0, (centre - spread) / (1 + z * z / decided))


def weighted(tallies: dict[str, Tally], findings: dict[str, int]) -> float | None:
    """The precision of all findings when severities were read in unequal shares: each counts as often as it occurs.

    None while a severity that occurs has no decided label.
    """
    total = 0.0
    for severity, count in findings.items():
        precision = tallies.get(severity, Tally()).precision
        if count and precision is None:
            return None
        total += count * (precision or 0.0)
    everything = sum(findings.values())
    return total / everything if everything else None


def add(drawn: list[Path], file: Path) -> int:
    """Appends the labels of filled-in draws to ``file``, and says how many. Raises ValueError and writes nothing."""
    added = read_labels(*drawn)
    read_labels(*([file] if file.exists() else []), *drawn)
    with file.open("a", encoding="utf-8") as labels:
        labels.writelines(json.dumps(asdict(label), ensure_ascii=False) + "\n" for label in added)
    return len(added)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("drawn", nargs="+", type=Path, metavar="DRAWN.jsonl")
    options = parser.parse_args()
    try:
        print(f"{add(options.drawn, LABELS)} labels added to {LABELS}")
    except (ValueError, OSError) as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
