"""The screen: which files can hold a finding at all, told from their bytes before anything is parsed."""

from __future__ import annotations

from devlint.source.decoding import Source


def may_hold_findings(source: Source) -> bool:
    """Whether a file speaks of torch. One that does not needs only its syntax checked.

    Every name that reaches PyTorch contains the word (``torch``, ``pytorch_lightning``, ``torchvision`` ...). The text
    is asked too, since a file may be written in an encoding whose bytes do not show it.
    """
    return b"torch" in source.data or (source.encoding != "utf-8" and "torch" in source.text)
