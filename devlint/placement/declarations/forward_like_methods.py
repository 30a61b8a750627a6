"""Methods of a Module that callers use in place of ``forward``.

The names are established conventions: scikit-learn (``predict``, ``score``), autoencoders and tokenised models
(``encode``, ``decode``), ``torch.distributions`` (``sample``, ``log_prob``), transformers (``generate``), recommenders
(``full_sort_predict``, ``calculate_loss``). Their arguments and results are assumed to be where those of ``forward``
are: on the module's device.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import ClassInfo

_FIRST_WORDS = frozenset({"predict", "encode", "decode", "sample", "rsample", "generate", "score", "infer", "loss"})
_NAMES = frozenset({"full_sort_predict", "log_prob", "log_likelihood", "calculate_loss", "compute_loss", "get_loss"})


def stands_for_forward(owner: ClassInfo | None, name: str) -> bool:
    """Whether a method of this class and name is called in place of ``forward``."""
    if owner is None or not owner.is_module:
        return False
    return name in _NAMES or name.partition("_")[0] in _FIRST_WORDS
