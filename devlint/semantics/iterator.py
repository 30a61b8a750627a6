"""The gate of TensorIterator, with its exception for 0-dim CPU tensors (semantics: gates 2 and 3).

The common device is that of the first operand that is not on the CPU. A CPU operand may differ only if it is 0-dim,
is no output, stands where the kernel can read a CPU scalar, and is the only one of its kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, groupby
from typing import TypeVar

from devlint.semantics.case import Case, first_clash, one_device
from devlint.semantics.operand import Clash, Meets, Relation, Unclear, Verdict
from devlint.semantics.operation import Dim, Rule

D = TypeVar("D")


def tensor_iterator(case: Case[D], ordered: Sequence[int]) -> Verdict[D]:
    """Judge an elementwise call."""
    crowded = _too_many_scalars(case, ordered)
    if crowded is not None:
        return crowded
    unclear: Unclear | None = None
    for i, j in combinations(ordered, 2):
        relation = case.related(i, j)
        if relation is Relation.SAME:
            continue
        stray, other = case.stray_first(i, j)
        excuses = {_excused(case, stray), _excused(case, other)}
        if relation is Relation.UNKNOWN:
            unclear = Unclear("the devices of two operands cannot be compared")
        elif excuses == {False}:
            return case.clash(stray, other, _kind(case, stray))
        elif True not in excuses:
            unclear = Unclear("one operand may be a 0-dim CPU tensor")
    away = (i for i in ordered if case.on_cpu(i) is Relation.DIFFERENT)
    return unclear or Meets(case.operands[next(away, ordered[0])].device)


def where(case: Case[D], ordered: Sequence[int]) -> Verdict[D]:
    """Judge `torch.where`: the first operand off the CPU determines the device, 0-dim ones are moved there."""
    inputs = [i for i in ordered if not case.is_output(i)]
    first = next((at for at, i in enumerate(inputs) if case.on_cpu(i) is Relation.DIFFERENT), None)
    target = inputs[first or 0]
    # An operand of unknown device before that one may be off the CPU as well: then it determines the device.
    rivals = [i for i in inputs[:first] if case.on_cpu(i) is Relation.UNKNOWN]
    contested = any(case.related(i, target) is not Relation.SAME for i in rivals)
    unclear = Unclear("another operand may be the first that is not on the CPU") if contested else None
    for i in (i for i in ordered if i != target):
        dim = Dim.NONZERO if case.is_output(i) else case.operands[i].dim
        relation = case.related(i, target)
        settled = not contested or case.on_cpu(i) is Relation.SAME
        if relation is Relation.DIFFERENT and dim is Dim.NONZERO and settled:
            return case.clash(*case.stray_first(i, target))
        if relation is not Relation.SAME and dim is not Dim.ZERO:
            unclear = Unclear("an operand may be 0-dim or elsewhere")
    return unclear or Meets(case.operands[target].device)


def broadcast_first(case: Case[D], ordered: Sequence[int]) -> Verdict[D]:
    """Judge a call whose operands are expanded to one shape before the kernel sees them (`F.mse_loss`)."""
    strict = one_device(case, ordered)
    dims = {case.operands[i].dim for i in ordered}
    if Dim.NONZERO in dims or not isinstance(strict, Clash):
        return strict
    kernel = where if case.operation.rule is Rule.BROADCAST_WHERE else tensor_iterator
    lenient = kernel(case, ordered)
    if dims == {Dim.ZERO} or isinstance(lenient, Clash):
        return lenient
    return Unclear("all operands may be 0-dim")


def _too_many_scalars(case: Case[D], ordered: Sequence[int]) -> Clash[D] | None:
    """Two CPU scalars beside an accelerator tensor are refused before any kernel is selected."""
    passes = bool(case.operation.zero_dim or case.operation.scalar_clash) and not case.operation.stepwise
    scalars = [i for i in ordered if _is_cpu_scalar(case, i)]
    away = next((i for i in ordered if case.on_cpu(i) is Relation.DIFFERENT), None)
    if not passes or len(scalars) < 2 or away is None:
        return None
    message = f"{case.operation.name}: only one operand may be a 0-dim CPU tensor"
    return Clash("too_many_cpu_scalars", scalars[1], away, message)


def _is_cpu_scalar(case: Case[D], i: int) -> bool:
    known = case.operands[i].dim is Dim.ZERO and case.on_cpu(i) is Relation.SAME
    return known and not case.is_output(i)


def _excused(case: Case[D], i: int) -> bool | None:
    """Whether the operand may differ because it is a CPU scalar; None when that is not known."""
    operand = case.operands[i]
    allowed = operand.role in case.operation.zero_dim and not case.is_output(i)
    if not allowed or operand.dim is Dim.NONZERO or case.on_cpu(i) is Relation.DIFFERENT:
        return False
    return _is_cpu_scalar(case, i) or None


def _kind(case: Case[D], stray: int) -> str:
    """A CPU scalar that TensorIterator lets through can still be refused by the kernel, with another text."""
    refused = case.operation.scalar_clash if _is_cpu_scalar(case, stray) else ""
    return refused or case.operation.clash


def pairwise(case: Case[D], indices: Sequence[int]) -> Verdict[D]:
    """`torch._foreach_*`: the slow path applies the elementwise operation pair by pair.

    A 0-dim tensor in place of a list is a scalar for all. Which kind of scalar depends on the overload Python's
    argument parser takes: a tensor (`_foreach_mul`), which meets every other, or a number, read with `item()`
    (`_foreach_add`).
    """
    first, *others = [list(group) for _, group in groupby(indices, key=lambda i: case.operands[i].role)]
    longest = max(len(group) for group in (first, *others))
    if any(len(group) not in (1, longest) for group in (first, *others)):
        return Unclear("the lists are not of one length")
    if not others or len(others[-1]) > 1 or not _takes_number(case, others[-1][0]):
        return _pairs(case, [first, *others], longest)
    without = _pairs(case, [first, *others[:-1]], longest)
    match case.operands[others[-1][0]].dim:
        case Dim.NONZERO if longest > 1:
            return Unclear("the lists are not of one length")
        case _ if longest > 1:
            # One tensor beside a list of several can only be a number.
            return without
        case Dim.ZERO:
            within = _pairs(case, [first, *others], longest)
            alike = isinstance(within, Clash) is isinstance(without, Clash)
            return within if alike else Unclear("the last operand may be a list of one or a scalar")
        case _:
            return _pairs(case, [first, *others], longest)


def _takes_number(case: Case[D], i: int) -> bool:
    """Whether a 0-dim tensor in place of this list would be read as a number: the last of the lists, as a rule."""
    lists = [p.name for p in case.operation.parameters if p.kind != "other"]
    return not case.operation.scalar_is_operand and case.operands[i].role == lists[-1]


def _pairs(case: Case[D], lists: Sequence[list[int]], longest: int) -> Verdict[D]:
    """The worst verdict of all pairs; a list of one operand stands for as many as there are."""
    repeated = [group * longest if len(group) == 1 else group for group in lists]
    verdicts = [_one_pair(case, pair) for pair in zip(*repeated, strict=True)]
    return first_clash(*verdicts)


def _one_pair(case: Case[D], pair: Sequence[int]) -> Verdict[D]:
    verdict = tensor_iterator(case, pair)
    if isinstance(verdict, Clash) and any(case.operands[i].dim is Dim.UNKNOWN for i in pair):
        return Unclear("a tensor of the lists may be 0-dim")
    return verdict
