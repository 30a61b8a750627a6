"""The two files: rows in, record out. Both are JSON lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from devlint.semantics.record.row import Ended, Outcome, Row


class Refused(Exception):
    """A file that cannot be used as it is."""


def read_rows(path: Path) -> list[Row]:
    """All rows in order. Raises Refused for a line that is none."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from error
    rows = []
    for number, line in enumerate(lines, 1):
        try:
            found = json.loads(line)
            if "about" not in found:
                rows.append(Row(found["key"], found["op"], found["code"], found["group"], found.get("gpus", 1)))
        except (ValueError, KeyError, TypeError) as error:
            raise Refused(f"{path}:{number}: not a row: {error!r}") from error
    return rows


def write_rows(path: Path, about: dict[str, str], rows: Iterable[Row]) -> None:
    """Write rows, one a line; what is usual is left out."""
    lines = [json.dumps({"about": about})]
    for row in rows:
        line = {"key": row.key, "op": row.operation, "group": row.group, "code": row.code}
        lines.append(json.dumps(line if row.gpus == 1 else {**line, "gpus": row.gpus}))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_record(path: Path) -> tuple[dict[str, Any], list[Ended]]:
    """The header and the outcomes. A last line that a killed run left half written does not count.

    Raises Refused for a file that is no record.
    """
    content = path.read_bytes()
    lines = content[: content.rfind(b"\n") + 1].splitlines()
    try:
        header, *found = [json.loads(line) for line in lines]
        if header["record"] != 1:
            raise Refused(f"{path}: a record of a kind this version does not know")
        ended = [Ended(f["key"], f["outcome"], tuple(f.get("devices", ())), *_error(f)) for f in found]
    except (ValueError, KeyError, TypeError) as error:
        raise Refused(f"{path}: not a record: {error!r}") from error
    return header, ended


def _error(line: dict[str, Any]) -> tuple[str, str]:
    return line.get("exception", ""), line.get("message", "")


def open_record(path: Path, header: dict[str, Any]) -> dict[str, Outcome]:
    """Make the file ready to be added to; the outcomes of the rows it already holds, by key.

    A half-written last line is cut off. Raises Refused when the file was begun with another torch or another GPU.
    """
    if not path.exists() or not path.read_bytes().strip():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(header) + "\n", encoding="utf-8")
        return {}
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if not whole:
        raise Refused(f"{path}: not a record, and not written over")
    begun, ended = read_record(path)
    for word in ("torch", "device", "gpu", "driver"):
        if begun.get(word) != header[word]:
            raise Refused(f"{path}: begun with {word} {begun.get(word)}, here it is {header[word]}; name another --out")
    if whole != content:
        path.write_bytes(whole)
    return {e.key: e.outcome for e in ended}


def line_of(ended: Ended) -> str:
    """One line of a record, without what is empty."""
    return json.dumps({k: v for k, v in asdict(ended).items() if v not in ((), "")}) + "\n"


def file_name(header: dict[str, Any]) -> str:
    """`torch-2.11.0+cu130-nvidia-h200.jsonl`: records are told apart by torch version, then by GPU."""
    gpu = re.sub(r"[^a-z0-9]+", "-", str(header["gpu"]).lower()).strip("-")
    return f"torch-{header['torch']}-{gpu}.jsonl"
