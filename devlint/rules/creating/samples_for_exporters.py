"""Samples that an exporter runs a model with: a program that exports a model does so where it was loaded.

`torch.onnx.export(self, torch.randn(1, 3, size, size), path)` in a method of the model.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from devlint.drafts.wording import code_of
from devlint.source.package_signs import NAMES_A_DEVICE, has_sign

if TYPE_CHECKING:
    import libcst as cst

_EXPORTS = re.compile(
    r"(?:^|\.)(?:onnx\.export|dynamo_export|jit\.trace|export\.export|\w*onnx_export|export_onnx\w*)$"
)
"""The ends of the names of functions that run a model with samples to write down what it does."""


def makes_samples_for_an_exporter(function: cst.FunctionDef | None) -> bool:
    """Whether a definition hands something to an exporter, and names no device: what it makes are samples."""
    import libcst as cst

    from devlint.placement.syntax.nodes import descend, dotted

    if function is None:
        return False
    calls = (node for node in descend(function.body) if isinstance(node, cst.Call))
    if not any(_EXPORTS.search(dotted(call.func) or "") for call in calls):
        return False
    return not has_sign(code_of(function.body).encode(errors="replace"), NAMES_A_DEVICE)
