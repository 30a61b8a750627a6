"""The gate of TensorIterator, with its exception for 0-dim CPU tensors (semantics: gates 2 and 3).

The common device is that of the first operand that is not on the CPU. A CPU operand may differ only if it is 0-dim,
is no output, stands where the kernel can read a CPU scalar, and is the only one of its kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, groupby
from typing import TypeVar

from devlint.semantics.case import Case, first_clash
from devlint.semantics.operand import Clash, Meets, Relation, Unclear, Verdict
from devlint.semantics.operation import Dim

D = TypeVar("D")


def tensor_iterator(case: Case[D], ordered: Sequence[int], many_scalars: bool = False) -> Verdict[D]:
    """Judge an elementwise call; `many_scalars` lifts the limit of one CPU scalar (`torch.where`)."""
    unclear: Unclear | None = None
    scalars: dict[int, int] = {}
    for i, j in combinations(ordered, 2):
        relation = case.related(i, j)
        if relation is Relation.SAME:
            continue
        stray, other = case.stray_first(i, j)
        excuses = {_excused(case, stray), _excused(case, other)}
        if relation is Relation.UNKNOWN:
            unclear = Unclear("the devices of two operands cannot be compared")
        elif True in excuses:
            scalars[stray] = other
        elif None in excuses:
            unclear = Unclear("one operand may be a 0-dim CPU tensor")
        else:
            return case.clash(stray, other, _kind(case, stray))
    if len(scalars) > 1 and not many_scalars:
        stray, other = list(scalars.items())[1]
        return Clash(
            "too_many_cpu_scalars", stray, other, f"{case.operation.name}: only one operand may be a 0-dim CPU tensor"
        )
    away = (i for i in ordered if case.on_cpu(i) is Relation.DIFFERENT)
    return unclear or Meets(case.operands[next(away, ordered[0])].device)


def _excused(case: Case[D], i: int) -> bool | None:
    """Whether the operand may differ because it is a CPU scalar; None when that is not known."""
    operand = case.operands[i]
    on_cpu = case.on_cpu(i)
    allowed = operand.role in case.operation.zero_dim and not case.is_output(i)
    if not allowed or operand.dim is Dim.NONZERO or on_cpu is Relation.DIFFERENT:
        return False
    return True if operand.dim is Dim.ZERO and on_cpu is Relation.SAME else None


def _kind(case: Case[D], stray: int) -> str:
    """A CPU scalar that TensorIterator lets through can still be refused by the kernel, with another text."""
    reaches_kernel = case.operands[stray].dim is Dim.ZERO and not case.is_output(stray)
    if reaches_kernel and case.on_cpu(stray) is Relation.SAME and case.operation.scalar_clash:
        return case.operation.scalar_clash
    return case.operation.clash


def pairwise(case: Case[D], indices: Sequence[int]) -> Verdict[D]:
    """`torch._foreach_*`: the slow path applies the elementwise operation pair by pair.

    A single tensor in place of a list is read as one scalar for all. The operands do not say which of the two a
    lone 0-dim tensor is, so that case stays unclear unless the operation takes such scalars.
    """
    lists = [list(group) for _, group in groupby(indices, key=lambda i: case.operands[i].role)]
    if len({len(group) for group in lists}) > 1:
        return Unclear("the lists are not of one known length")
    verdicts = [_one_pair(case, pair) for pair in zip(*lists, strict=True)]
    return first_clash(*verdicts)


def _one_pair(case: Case[D], pair: Sequence[int]) -> Verdict[D]:
    verdict = tensor_iterator(case, pair)
    if isinstance(verdict, Clash) and case.operands[verdict.operand].dim is not Dim.NONZERO:
        return Unclear("a lone 0-dim tensor beside a list")
    return verdict
