"""Generators that hand on the items of an argument: ``for batch in logger.log_every(loader, 10)``."""

from __future__ import annotations

import libcst as cst

from devlint.placement.calls.summaries import Substitution
from devlint.placement.declarations.definitions import FunctionInfo
from devlint.placement.declarations.symbol_keys import symbol_key
from devlint.placement.domain.abstract_values import Container, Opaque, Value
from devlint.placement.domain.lattice import batch_of
from devlint.placement.syntax.nodes import descend, parameters_of


def handed_through(info: FunctionInfo, summary: Value, substitution: Substitution) -> Value | None:
    """The argument of which a generator yields each item as it drew it; None for any other function.

    To go through the call is to go through that argument, as with ``tqdm(loader)``.
    """
    if not info.is_generator or not isinstance(summary, Container) or summary.items:
        return None
    drawn = summary.rest
    symbol = batch_of(drawn.device) if isinstance(drawn, Opaque) else None
    if symbol is None or not any(parameter.name.value == symbol.source for parameter in parameters_of(info.header)):
        return None
    return None if _is_bound_anew(info, symbol.source) else substitution.get(symbol_key(info, symbol.source))


def _is_bound_anew(info: FunctionInfo, name: str) -> bool:
    """``loader = Prefetcher(loader, device)``: what is drawn is no more what the caller's loader hands out."""
    return any(
        isinstance(node, cst.AssignTarget) and isinstance(node.target, cst.Name) and node.target.value == name
        for node in descend(info.node.body)
    )
