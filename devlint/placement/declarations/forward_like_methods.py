"""Methods of a Module that callers use in place of ``forward``.

The names are established conventions: scikit-learn (``predict``, ``score``), autoencoders and tokenised models
(``encode``, ``decode``), ``torch.distributions`` (``sample``, ``log_prob``), transformers (``generate``), recommenders
(``full_sort_predict``, ``calculate_loss``). Their arguments and results are assumed to be where those of ``forward``
are: on the module's device.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from devlint.placement.declarations.known_classes import ClassKind
from devlint.semantics import library_models

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo

_FIRST_WORDS = frozenset({"predict", "encode", "decode", "sample", "rsample", "generate", "score", "infer", "loss"})
_NAMES = frozenset({"full_sort_predict", "log_prob", "log_likelihood", "calculate_loss", "compute_loss", "get_loss"})


def stands_for_forward(owner: ClassInfo | None, name: str) -> bool:
    """Whether a method of this class and name is called in place of ``forward``."""
    if owner is None or not owner.is_module:
        return False
    return name in _NAMES or name.partition("_")[0] in _FIRST_WORDS


def hooks_of(owner: ClassInfo) -> tuple[frozenset[str], frozenset[str]]:
    """The methods that a library calls with tensors that it has brought to the module, and those on the host."""
    return library_models.hooks(_library_bases(owner), owner.kind is ClassKind.LIGHTNING)


def gathered_by(info: FunctionInfo) -> FunctionInfo | None:
    """The method of which a library hands all results to this one: ``validation_epoch_end(self, outputs)``."""
    owner = info.owner
    if owner is None or not owner.is_module:
        return None
    step = library_models.gathered_from(_library_bases(owner), owner.kind is ClassKind.LIGHTNING, info.name)
    return owner.method(step) if step is not None else None


def is_handed_a_placed_batch(info: FunctionInfo | None) -> bool:
    """Whether the trainer of a library calls the method with a batch of which it has moved every tensor."""
    owner = info.owner if info is not None else None
    if info is None or owner is None or owner.method("transfer_batch_to_device") is not None:
        return False
    return info.name in hooks_of(owner)[0]


def _library_bases(owner: ClassInfo) -> Iterator[str]:
    return (base for info in owner.order for base in info.resolved_bases if isinstance(base, str))
