"""What is known of a row independently of devlint's tables, best source first.

gpu       a record made on a GPU (fixtures/semantics/torch-*.jsonl): the nearest torch version, then the nearest GPU
build     the same rows run by PyTorch's own CUDA build without a GPU: its checks are real, its kernels do nothing
cited     an upstream test, source line or report that says it (fixtures/semantics/cited.json and cited_op_db.json)
metas     torch's C++ structured metas on the CPU, where `meta` plays the accelerator. Only what they refuse counts:
          what they let pass CUDA may still refuse, before them (the generated check) or after (the kernel)
derived   none of these: what devlint's own tables say, which proves nothing
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from devlint.semantics import classify
from devlint.semantics.record.files import read_record, read_rows
from devlint.semantics.record.row import Ended, Row

FIXTURES = Path(__file__).parents[3] / "fixtures" / "semantics"

Source = Literal["gpu", "build", "cited", "metas"]
SOURCES: tuple[Source, ...] = ("gpu", "build", "cited", "metas")
RECORDED: Mapping[Source, str] = {"gpu": "", "build": "no-gpu", "metas": "structured-metas"}
"""Sources that are records, and the word by which their files are known."""
DEVICE_ERRORS = ("device_mismatch", "needs_cpu", "needs_gpu", "bad_device")


@dataclass(frozen=True)
class Fact:
    """What happens on the device. `devices`: where the result is, None where that is not known."""

    source: Source
    clash: bool
    kind: str = ""
    devices: tuple[str, ...] | None = None
    note: str = ""


@cache
def rows() -> list[Row]:
    return read_rows(FIXTURES / "rows.jsonl")


def facts() -> dict[str, dict[Source, Fact]]:
    """By row key, what each source says."""
    found: dict[str, dict[Source, Fact]] = {row.key: {} for row in rows()}
    for source in RECORDED:
        if (path := nearest(source)) is not None:
            for key, fact in of_record(path, source).items():
                found.get(key, {})[source] = fact
    for key, fact in _cited().items():
        found.get(key, {})[fact.source] = fact
    return found


def best(known: Mapping[Source, Fact]) -> Fact | None:
    """The fact of the best source, None where there is none."""
    return next((known[s] for s in SOURCES if s in known), None)


def nearest(source: Source, torch_version: str = "2.13.0", name: str = "") -> Path | None:
    """Of the records of a source that nearest to a torch version, then to a GPU's name."""
    paths = [p for p in FIXTURES.glob("torch-*.jsonl") if _source_of(p.name) == source]
    return min(paths, key=lambda p: (_distance(p.name, torch_version), name not in p.name, p.name), default=None)


def _source_of(file: str) -> Source | None:
    """None for a dry run, which tells nothing."""
    if "dry-run" in file:
        return None
    return next((source for source, word in RECORDED.items() if word and word in file), "gpu")


def _distance(file: str, version: str) -> tuple[int, ...]:
    def numbers(text: str) -> list[int]:
        found = re.search(r"(\d+)\.(\d+)\.(\d+)", text)
        return [int(n) for n in found.groups()] if found else [0, 0, 0]

    return tuple(abs(a - b) for a, b in zip(numbers(file), numbers(version), strict=True))


def of_record(path: Path, source: Source) -> dict[str, Fact]:
    """The rows of a record that settle something: a result, or an error about devices."""
    _, ended = read_record(path)
    return {e.key: fact for e in ended if (fact := _settled(e, source)) is not None}


def _settled(ended: Ended, source: Source) -> Fact | None:
    if ended.outcome == "ok":
        return None if source == "metas" else Fact(source, False, devices=ended.devices)
    kind = classify(ended.message) if ended.outcome == "error" else None
    if kind is None or kind.category not in DEVICE_ERRORS:
        return None
    return Fact(source, True, kind.kind)


def unsettled(path: Path) -> list[Ended]:
    """The rows of a record that settle nothing."""
    return [e for e in read_record(path)[1] if _settled(e, _source_of(path.name) or "gpu") is None]


def _cited() -> dict[str, Fact]:
    by_code = {row.code: row.key for row in rows()}
    return {
        by_code[code]: Fact("cited", expected == "err", note=f"{source['url']}: {source['says']}")
        for name in ("cited_op_db", "cited")
        for source in json.loads((FIXTURES / f"{name}.json").read_text("utf-8"))["sources"]
        for code, expected in source["rows"]
    }
