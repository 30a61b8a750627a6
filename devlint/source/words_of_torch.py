"""The words without which a text can have no finding: what the screen looks for, in texts and in bytes."""

from __future__ import annotations

_WORDS = (
    "torch",
    ".detach().numpy()",
    ".cpu().numpy()",
    ".cuda()",
    "def forward(self",
    ".load_from_checkpoint(",
)
"""Every name that reaches PyTorch contains the first one; of what is handed in, only a tensor is detached, or brought
to the CPU for numpy, only it or a module is brought to CUDA, and only a model of Lightning is loaded from a checkpoint.

A Module whose base and parts are the project's own need not name it either: it has a ``forward``.
"""


def text_may_hold_findings(text: str) -> bool:
    return any(word in text for word in _WORDS)


def bytes_may_hold_findings(data: bytes) -> bool:
    """The same over bytes that are not decoded yet."""
    return any(word.encode() in data for word in _WORDS)
