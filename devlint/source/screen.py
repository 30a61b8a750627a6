"""The screen: which files can have a finding at all, by their bytes, before anything is parsed."""

from __future__ import annotations

from devlint.source.decoding import Source


def may_hold_findings(source: Source) -> bool:
    """Whether a file names torch. Of one that does not, only the syntax is checked.

    Every name that reaches PyTorch contains the word (``torch``, ``pytorch_lightning``, ``torchvision`` ...). The text
    is searched too, since a file may be written in an encoding whose bytes do not show it.
    """
    return b"torch" in source.data or (source.encoding != "utf-8" and "torch" in source.text)
