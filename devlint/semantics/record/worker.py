"""The process that runs a batch: rows come in on stdin, outcomes go out on stdout, one line each, as they happen."""

from __future__ import annotations

import io
import json
import os
import sys
import warnings

import torch

from devlint.semantics.record.files import line_of
from devlint.semantics.record.places import real_names
from devlint.semantics.record.row import READY, Ended, Row, end, poisons


def main(device: str) -> None:
    """Run the rows of stdin on `device` until they are done or one poisons the process."""
    warnings.simplefilter("ignore")
    outcomes = _private_stdout()
    count = torch.cuda.device_count() if device == "cuda" else 1
    if device == "meta":
        _bare_structured_metas()
    namespace = real_names(device, count)
    outcomes.write(READY)
    outcomes.flush()
    for line in sys.stdin:
        row = Row(**json.loads(line))
        ended = _skipped(row, device, count) or end(row, namespace, device)
        outcomes.write(line_of(ended))
        outcomes.flush()
        if poisons(ended):
            break


def _skipped(row: Row, device: str, count: int) -> Ended | None:
    if row.gpus > count and device != "cpu":  # On the host alone every place is the host.
        return Ended(row.key, "skipped", message=f"needs {row.gpus} devices, {count} here")
    return Ended(row.key, "skipped", message="needs an Apple device") if row.group == "apple" else None


def _bare_structured_metas() -> None:
    """Take torch's Python meta registrations away, for good: meta tensors then reach the metas written in C++.

    These hold TensorIterator's gate, in which `meta` plays the accelerator. Private API, in a process of its own.
    """
    import torch._meta_registrations as registrations

    registrations._meta_lib_dont_use_me_use_register_meta._destroy()  # type: ignore[no-untyped-call]


def _private_stdout() -> io.TextIOWrapper:
    """A stdout that what torch's libraries print cannot reach: theirs is turned to stderr."""
    mine = os.dup(1)
    os.dup2(2, 1)
    return open(mine, "w", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
