"""The screen: which files can have a finding at all, by their bytes, before anything is parsed."""

from __future__ import annotations

from devlint.source.decoding import Source
from devlint.source.words_of_torch import bytes_may_hold_findings, text_may_hold_findings


def may_hold_findings(source: Source) -> bool:
    """Whether a file names torch. Of one that does not, only the syntax is checked.

    Every name that reaches PyTorch contains the word (``torch``, ``pytorch_lightning``, ``torchvision`` ...). A file
    that is handed a tensor need not name it: only a tensor is detached. Nor need a Module that derives from a class of
    its project: it has a ``forward``. The text is searched too, since a file may be
    written in an encoding whose bytes do not show it.
    """
    return bytes_may_hold_findings(source.data) or (source.encoding != "utf-8" and text_may_hold_findings(source.text))
