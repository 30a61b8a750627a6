"""What is known of a row independently of devlint's tables, best source first.

gpu       a record made on a GPU (fixtures/semantics/torch-*.jsonl): the nearest torch version, then the nearest GPU
build     the same rows run by PyTorch's own CUDA build without a GPU: its checks are real, its kernels do nothing
cited     an upstream test, source line or report that says it (fixtures/semantics/cited.json)
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

Source = Literal["gpu", "build", "cited", "derived"]
SOURCES: tuple[Source, ...] = ("gpu", "build", "cited")
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
    for source, path in (("gpu", nearest(gpu=True)), ("build", nearest(gpu=False))):
        if path is not None:
            for key, fact in of_record(path, source).items():  # type: ignore[arg-type]
                found.get(key, {})[source] = fact  # type: ignore[index]
    for key, fact in _cited().items():
        found.get(key, {})[fact.source] = fact
    return found


def best(known: Mapping[Source, Fact]) -> Fact | None:
    """The fact of the best source, None where there is none."""
    return next((known[s] for s in SOURCES if s in known), None)


def nearest(gpu: bool, torch_version: str = "2.13.0", name: str = "") -> Path | None:
    """The record nearest to a torch version, then to a GPU's name; `gpu` false: that of a build run without one."""
    paths = [p for p in FIXTURES.glob("torch-*.jsonl") if ("no-gpu" in p.name) is not gpu and "dry-run" not in p.name]
    return min(paths, key=lambda p: (_distance(p.name, torch_version), name not in p.name, p.name), default=None)


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
        return Fact(source, False, devices=ended.devices)
    kind = classify(ended.message) if ended.outcome == "error" else None
    if kind is None or kind.category not in DEVICE_ERRORS:
        return None
    return Fact(source, True, kind.kind)


def unsettled(path: Path) -> list[Ended]:
    """The rows of a record that settle nothing."""
    return [e for e in read_record(path)[1] if _settled(e, "build") is None]


def _cited() -> dict[str, Fact]:
    by_code = {row.code: row.key for row in rows()}
    sources = json.loads((FIXTURES / "cited.json").read_text("utf-8"))["sources"]
    return {
        by_code[code]: Fact("cited", expected == "err", note=f"{source['url']}: {source['says']}")
        for source in sources
        for code, expected in source["rows"]
    }
