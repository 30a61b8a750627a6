"""Knowing less never turns one verdict into another: it can only make it unclear."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from devlint.semantics import (
    Clash,
    Dim,
    DType,
    Elements,
    Meets,
    Operand,
    Operation,
    Relation,
    Rule,
    Unclear,
    Verdict,
    function,
    meet,
    method,
    operator,
    tables,
)

NAMES = sorted({**tables.rows("operations"), **tables.rows("operations_by_hand"), **tables.rows("torchvision_by_hand")})
OPERATIONS = [
    found
    for name in NAMES
    for found in [method(name[7:]) if name.startswith("Tensor.") else function(name)]
    if isinstance(found, Operation) and sum(p.kind != "other" for p in found.parameters) > 1
] + [operator(symbol) for symbol in tables.rows("operators")]
SPECIAL = [o for o in OPERATIONS if o.rule not in (Rule.EXACT_SAME, Rule.TENSOR_ITERATOR)] + [
    operator("[]="),
    operator("+="),
]


def relate(a: str, b: str) -> Relation:
    if "?" in (a, b):
        return Relation.UNKNOWN
    return Relation.SAME if a == b else Relation.DIFFERENT


@st.composite
def calls(draw: st.DrawFn) -> tuple[Operation, list[Operand[str]]]:
    operation = draw(st.one_of(st.sampled_from(SPECIAL), st.sampled_from(OPERATIONS)))
    operands = []
    parameters = [p for p in operation.parameters if p.kind != "other"]
    pairwise = operation.rule is Rule.PAIRWISE
    length = draw(st.integers(1, 2))
    for parameter in parameters:
        count = draw(st.integers(1, 2))
        if pairwise:  # lists of one length, the last of them perhaps one number for all
            count = draw(st.sampled_from([length, 1])) if parameter is parameters[-1] else length
        dims = [Dim.ZERO] if pairwise and count < length else [Dim.ZERO, Dim.NONZERO]
        for _ in range(count if parameter.kind == "tensors" else 1):
            device = draw(st.sampled_from(["cpu", "cuda:0", "cuda:1"]))
            dim = draw(st.sampled_from(dims))
            one = Elements.ONE if dim is Dim.ZERO else draw(st.sampled_from([Elements.ONE, Elements.MANY]))
            dtype = draw(st.sampled_from([DType.BOOL, DType.INT, DType.OTHER]))
            operands.append(Operand(parameter.name, device, dim, one, dtype))
    return operation, operands


def judge(operation: Operation, operands: list[Operand[str]]) -> Verdict[str]:
    return meet(operation, operands, relate, "cpu")


def presumed(operation: Operation, operand: Operand[str]) -> bool:
    """Whether the judge, where it does not know the size, goes by what is usual and so may differ from the truth.

    Two cases, both of `x[i]`: a bool index of unknown dim is a mask, and an assigned value of one dim or more has
    many elements. Without them hardly a mask and hardly an assignment of real code could be judged.
    """
    mask = operation.rule in (Rule.INDEX_READ, Rule.INDEX_WRITE) and operand.dtype is DType.BOOL
    value = operation.rule is Rule.INDEX_WRITE and operand.role in ("value", "values")
    return (mask and operand.dim is Dim.ZERO) or (value and operand.elements is Elements.ONE)


@settings(max_examples=600, deadline=None)
@given(calls(), st.data())
def test_forgetting_a_fact_keeps_the_verdict_or_makes_it_unclear(
    call: tuple[Operation, list[Operand[str]]], data: st.DataObject
) -> None:
    operation, operands = call
    known = judge(operation, operands)
    less = list(operands)
    for i, operand in enumerate(less):
        if data.draw(st.booleans()):
            operand = replace(operand, dim=operand.dim if presumed(operation, operand) else Dim.UNKNOWN)
        if data.draw(st.booleans()):
            operand = replace(operand, elements=operand.elements if presumed(operation, operand) else Elements.UNKNOWN)
        if data.draw(st.booleans()):
            operand = replace(operand, dtype=DType.UNKNOWN)
        if data.draw(st.integers(0, 4)) == 0:
            operand = replace(operand, device="?")
        less[i] = operand
    guessed = judge(operation, less)
    if not isinstance(known, Unclear):
        assert isinstance(guessed, Unclear) or type(guessed) is type(known)
    if isinstance(known, Meets) and isinstance(guessed, Meets):
        assert guessed.device in (known.device, "?")


@settings(max_examples=300, deadline=None)
@given(calls())
def test_operands_on_one_device_always_meet(call: tuple[Operation, list[Operand[str]]]) -> None:
    operation, operands = call
    together = [replace(o, device="cpu") for o in operands]
    assert judge(operation, together) == Meets("cpu") or not together or operation.free_arguments


@settings(max_examples=200, deadline=None)
@given(calls())
def test_a_clash_names_operands_that_differ(call: tuple[Operation, list[Operand[str]]]) -> None:
    operation, operands = call
    verdict = judge(operation, operands)
    if isinstance(verdict, Clash):
        other = "cpu" if verdict.other is None else operands[verdict.other].device
        assert operands[verdict.operand].device != other
