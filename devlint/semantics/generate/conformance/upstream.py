"""Rows that PyTorch's own tests over op_db settle: what `TestCommon.test_out` (test/test_ops.py) demands.

Called with all operands on CUDA and `out=` on the CPU, every operation of op_db that takes `out=` has to raise a
RuntimeError ("Case 3" of that test), unless it makes tensors from nothing or op_db skips the test for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import DecorateInfo

from devlint.semantics.generate.conformance.calls import public_name
from devlint.semantics.record.row import Row

ABOUT = {
    "what": "written by python -m devlint.semantics.generate.conformance from op_db; do not edit; read as cited.json"
}
SOURCE = {
    "url": "https://github.com/pytorch/pytorch/blob/main/test/test_ops.py",
    "says": "TestCommon.test_out, case 3, over op_db as packaged in torch: out= on the CPU beside CUDA operands raises",
}


def text(rows: Iterable[Row]) -> str:
    """The content of cited_op_db.json."""
    lines = ",\n".join(f"   {json.dumps(pair)}" for pair in settled(rows))
    head = f'"url": {json.dumps(SOURCE["url"])}, "says": {json.dumps(SOURCE["says"])}'
    return f'{{\n "about": {json.dumps(ABOUT)},\n "sources": [\n  {{{head}, "rows": [\n{lines}\n  ]}}\n ]\n}}\n'


def settled(rows: Iterable[Row]) -> Iterator[tuple[str, str]]:
    """Code and outcome of the rows that the test covers."""
    tested = {name for info in op_db if _is_tested(info) and (name := public_name(info)) is not None}
    for row in rows:
        operands, _, out = row.code.rpartition("out=")
        if (
            row.group == "out"
            and row.operation in tested
            and out.startswith("h.")
            and not re.search(r"\bh\.", operands)
        ):
            yield row.code, "err"


def _is_tested(info: Any) -> bool:
    if not info.supports_out or info.is_factory_function or info.variant_test_name:
        return False
    dtype = next(iter(sorted(info.supported_dtypes("cuda"), key=str)), None)
    if dtype is None:
        return False
    # The skips are among the decorators.
    skips = [d for d in info.decorators if isinstance(d, DecorateInfo)]
    return not any(d.is_active("TestCommon", "test_out", "cuda", dtype, {}) for d in skips)  # type: ignore[no-untyped-call]
