"""What a tokenizer or a processor made, in rows of tokens, as the call says."""

from __future__ import annotations

import libcst as cst

from devlint.placement.domain.abstract_values import Opaque, Tensor, Value
from devlint.placement.domain.provenance import StepKind
from devlint.semantics import library_models


def is_encoded(value: Value) -> bool:
    """Whether a call with a keyword made it that means the same everywhere: ``return_tensors="pt"``."""
    provenance = value.provenance if isinstance(value, (Tensor, Opaque)) else None
    first = provenance.first if provenance is not None else None
    if first is None or first.kind is not StepKind.MADE or not isinstance(first.node, cst.Call):
        return False
    known = library_models.anywhere().keywords
    return any(argument.keyword is not None and argument.keyword.value in known for argument in first.node.args)
