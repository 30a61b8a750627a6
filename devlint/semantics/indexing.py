"""`x[i]`, `x[i] = v` and `masked_fill`: the rules of ATen's TensorAdvancedIndexing.

Reading moves an index on the CPU to x and refuses one elsewhere - except a 0-dim integer or bool, which Python's
indexing reads with `item()` before any kernel runs. Writing moves an index from anywhere: the check stands in the meta
function of `index` alone, `_index_put_impl_` has none. A 0-dim value is moved, whatever its device; the statement
`x[i] = v` first takes leading dimensions of size one from v (`slicePrefix1sSize`), so there one element is enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from devlint.semantics.case import Case, first_clash, one_device
from devlint.semantics.operand import Meets, Relation, Unclear, Verdict
from devlint.semantics.operation import Dim, DType, Elements, Rule

D = TypeVar("D")


def _split(case: Case[D], indices: Sequence[int]) -> tuple[int, list[int], list[int]]:
    """The indexed tensor, the index tensors, the value."""
    subject, *others = indices
    value = [i for i in others if case.operands[i].role in ("value", "values")]
    return subject, [i for i in others if i not in value], value


def index_read(case: Case[D], indices: Sequence[int]) -> Verdict[D]:
    subject, index, _ = _split(case, indices)
    verdicts = [_index(case, subject, i) for i in index]
    return first_clash(Meets(case.operands[subject].device), *verdicts)


def index_write(case: Case[D], indices: Sequence[int]) -> Verdict[D]:
    """Both `x[i] = v` and `x.index_put_((i,), v)`; the operation's rule tells which."""
    subject, index, value = _split(case, indices)
    tensors, maybe = index, False
    if case.operation.rule is Rule.INDEX_WRITE:
        # With ints and slices alone the assignment is a copy_ or a fill_, which cross devices.
        tensors = [i for i in index if not _read_with_item(case, i)]
        maybe = bool(tensors) and all(_may_be_read_with_item(case, i) for i in tensors)
    verdicts: list[Verdict[D]] = []
    if tensors:
        verdicts = [_value(case, subject, i, tensors, maybe) for i in value]
    return first_clash(Meets(case.operands[subject].device), *verdicts)


def _read_with_item(case: Case[D], i: int) -> bool:
    return case.operands[i].dim is Dim.ZERO and case.operands[i].dtype is DType.INT


def _is_number(case: Case[D], i: int) -> bool:
    """Whether it is read as a number; so is a 0-dim bool, though it indexes like a mask.

    A mask of unknown dim is not.
    """
    return case.operands[i].dim is Dim.ZERO and case.operands[i].dtype in (DType.INT, DType.BOOL)


def _may_be_read_with_item(case: Case[D], i: int) -> bool:
    operand = case.operands[i]
    return operand.dim is not Dim.NONZERO and operand.dtype in (DType.INT, DType.UNKNOWN)


def _index(case: Case[D], subject: int, i: int) -> Verdict[D]:
    device = case.operands[subject].device
    if case.related(subject, i) is Relation.SAME or case.on_cpu(i) is Relation.SAME or _is_number(case, i):
        return Meets(device)
    if case.on_cpu(i) is Relation.UNKNOWN or case.related(subject, i) is Relation.UNKNOWN:
        return Unclear("the index may be where the indexed tensor is")
    if _may_be_read_with_item(case, i):
        return Unclear("the index may be a 0-dim integer, read with item()")
    return case.clash(i, subject, "index_device")


def _value(case: Case[D], subject: int, i: int, index: list[int], maybe_copy: bool) -> Verdict[D]:
    device = case.operands[subject].device
    operand = case.operands[i]
    as_number = operand.elements is Elements.ONE and case.operation.rule is Rule.INDEX_WRITE
    if case.related(subject, i) is Relation.SAME or operand.dim is Dim.ZERO or as_number:
        return Meets(device)
    if case.related(subject, i) is Relation.UNKNOWN or operand.dim is Dim.UNKNOWN:
        return Unclear("the assigned value may be 0-dim or on the same device")
    filled = _fills_one_mask(case, subject, i, index)
    if filled is True:
        return Meets(device)
    if filled is None or maybe_copy:
        return Unclear("the assignment may be a fill or a copy, which cross devices")
    return case.clash(i, subject)


def _fills_one_mask(case: Case[D], subject: int, value: int, index: list[int]) -> bool | None:
    """`x[mask] = v` with a one-element CPU v, whatever its rank, becomes `masked_fill_` (index_put's fast path).

    The mask must lie beside x (ATen's IndexingUtils.h, canDispatchToMaskedFill); the statement moves it there first.
    """
    operand = case.operands[value]
    dtype = case.operands[index[0]].dtype
    away = case.on_cpu(value) is Relation.DIFFERENT
    if len(index) > 1 or dtype in (DType.INT, DType.OTHER) or operand.elements is Elements.MANY or away:
        return False
    beside = case.related(index[0], subject) if case.operation.rule is Rule.INDEX_PUT else Relation.SAME
    if beside is Relation.DIFFERENT:
        return False
    known = dtype is DType.BOOL and operand.elements is Elements.ONE and case.on_cpu(value) is Relation.SAME
    return True if known and beside is Relation.SAME else None


def masked_fill(case: Case[D], ordered: Sequence[int]) -> Verdict[D]:
    """Self and mask on one device; a value is read with `item()`, but a CPU self refuses a value elsewhere."""
    subject = ordered[0]
    value = [i for i in ordered if case.operands[i].role == "value"]
    verdicts = [one_device(case, [i for i in ordered if i not in value])]
    for i in value:
        if case.related(subject, i) is Relation.SAME or case.on_cpu(i) is Relation.SAME:
            continue
        match case.on_cpu(subject):
            case Relation.SAME if case.related(subject, i) is Relation.DIFFERENT:
                verdicts.append(case.clash(i, subject))
            case Relation.DIFFERENT:
                pass
            case _:
                verdicts.append(Unclear("the filled tensor may be on the CPU and the value elsewhere"))
    return first_clash(*verdicts)
