"""Devices, and what two of them have to do with each other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devlint.placement.domain.lattice import (
    CPU,
    MAX_GUARDS,
    SOME_INDEX,
    UNKNOWN,
    Anchor,
    Choice,
    Device,
    Guard,
    GuardKind,
    Known,
    SameAs,
    Symbol,
    assume,
    choose,
    count_guards,
    describe,
    is_accelerator,
    is_device_choice,
    leaves,
    relate,
)
from devlint.semantics import Relation

CUDA = Known("cuda")
X = SameAs(Symbol(Anchor.PARAMETER, "x", "f:x"))
Z = SameAs(Symbol(Anchor.PARAMETER, "z", "f:z"))
MODULE = SameAs(Symbol(Anchor.MODULE, "self", "self:Net"))
BATCH = SameAs(Symbol(Anchor.BATCH, "batch", "f:batch:1"))
SETTING = SameAs(Symbol(Anchor.EXPRESSION, "args.device", "f:args.device"))

FLAG = Guard("f:flag@", "flag")
OTHER_FLAG = Guard("f:other@", "other")
USE_CUDA = Guard("f:use_cuda@", "use_cuda", GuardKind.ON_ACCELERATOR)

GUARDS = [FLAG, OTHER_FLAG, USE_CUDA, *(Guard(f"f:flag{n}@", f"flag{n}") for n in range(3))]
PLACES: list[Device] = [
    CPU, CUDA, Known("cuda", 0), Known("cuda", 1), Known("cuda", SOME_INDEX), Known("mps"), Known("meta"),
    X, Z, MODULE, BATCH, SETTING, UNKNOWN,
]  # fmt: skip

devices: st.SearchStrategy[Device] = st.recursive(
    st.sampled_from(PLACES), lambda inner: st.builds(choose, st.sampled_from(GUARDS), inner, inner), max_leaves=6
)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (CPU, CPU, Relation.SAME),
        (CPU, CUDA, Relation.DIFFERENT),
        (CPU, Known("cuda", 1), Relation.DIFFERENT),
        (Known("cuda", 0), Known("cuda", 1), Relation.DIFFERENT),
        (CUDA, Known("mps"), Relation.DIFFERENT),
        (CUDA, CUDA, Relation.SAME),
        (CUDA, Known("cuda", 1), Relation.UNKNOWN),
        (Known("cuda", SOME_INDEX), Known("cuda", SOME_INDEX), Relation.UNKNOWN),
        (Known("cuda", SOME_INDEX), Known("cuda", 0), Relation.UNKNOWN),
        (Known("cuda", SOME_INDEX), CPU, Relation.DIFFERENT),
        (Known("meta"), CPU, Relation.UNKNOWN),
        (Known("cpu", 0), CPU, Relation.SAME),
        (UNKNOWN, CPU, Relation.UNKNOWN),
        (UNKNOWN, UNKNOWN, Relation.UNKNOWN),
    ],
    ids=lambda value: value.name if isinstance(value, Relation) else describe(value),
)
def test_named_devices_compare_by_type_and_index(a: Device, b: Device, expected: Relation) -> None:
    assert relate(a, b) is expected
    assert relate(b, a) is expected


@pytest.mark.parametrize("movable", [X, MODULE, SETTING], ids=describe)
def test_cpu_differs_from_whatever_the_caller_decides(movable: Device) -> None:
    assert relate(CPU, movable) is Relation.DIFFERENT


@pytest.mark.parametrize("accelerator", [CUDA, Known("cuda", 1)], ids=describe)
def test_accelerator_against_the_callers_place_may_be_right_on_its_authors_machine(accelerator: Device) -> None:
    assert relate(accelerator, X) is Relation.UNKNOWN


def test_two_arguments_may_be_anywhere() -> None:
    assert relate(X, Z) is Relation.UNKNOWN
    assert relate(X, X) is Relation.SAME


def test_what_a_loader_yields_proves_nothing_against_the_cpu() -> None:
    assert relate(CPU, BATCH) is Relation.UNKNOWN


def test_choices_under_one_guard_are_compared_arm_by_arm() -> None:
    model = Choice(FLAG, CUDA, CPU)
    assert relate(model, Choice(FLAG, CUDA, CPU)) is Relation.SAME
    assert relate(model, Choice(FLAG, CPU, CPU)) is Relation.DIFFERENT
    assert relate(model, Choice(FLAG, UNKNOWN, CPU)) is Relation.UNKNOWN


def test_choices_under_two_guards_differ_only_when_every_pair_of_arms_does() -> None:
    assert relate(Choice(FLAG, CUDA, CPU), Choice(OTHER_FLAG, CUDA, CPU)) is Relation.UNKNOWN
    assert relate(Choice(FLAG, CPU, Known("cpu", 0)), Choice(OTHER_FLAG, CUDA, Known("mps"))) is Relation.DIFFERENT


def test_one_arm_apart_from_a_named_device_is_a_clash() -> None:
    assert relate(Choice(FLAG, CUDA, CPU), CPU) is Relation.DIFFERENT
    assert relate(CUDA, Choice(FLAG, CUDA, CPU)) is Relation.DIFFERENT


def test_a_condition_about_devices_agrees_with_the_caller() -> None:
    assert relate(Choice(USE_CUDA, CUDA, CPU), X) is Relation.UNKNOWN
    assert relate(Choice(FLAG, X, CPU), X) is Relation.DIFFERENT


def test_arms_on_cpu_and_accelerator_make_a_choice_of_place() -> None:
    assert is_device_choice(Choice(FLAG, CUDA, CPU))
    assert is_device_choice(Choice(USE_CUDA, X, Z))
    assert not is_device_choice(Choice(FLAG, X, CPU))


def test_a_join_without_a_condition_knows_only_what_both_arms_say() -> None:
    assert choose(None, CPU, CPU) == CPU
    assert choose(None, CPU, CUDA) == UNKNOWN


def test_a_second_choice_under_one_guard_takes_the_arm_that_is_left() -> None:
    first = choose(FLAG, CUDA, X)
    assert choose(FLAG, first, CPU) == Choice(FLAG, CUDA, CPU)
    assert choose(FLAG, CPU, first) == Choice(FLAG, CPU, X)


def test_the_other_arm_that_catches_up_ends_the_choice() -> None:
    assert choose(FLAG, choose(FLAG, CUDA, CPU), CUDA) == CUDA


def test_more_than_four_guards_are_unknown() -> None:
    joined: Device = X
    for number in range(MAX_GUARDS):
        joined = choose(Guard(f"guard {number}"), Known("cuda", number), joined)
    assert count_guards(joined) == MAX_GUARDS
    assert choose(Guard("one more"), Known("cuda", 7), joined) == UNKNOWN


def test_the_words_for_a_device_name_its_condition() -> None:
    assert describe(Choice(FLAG, CUDA, CPU)) == "cuda if flag else cpu"
    assert describe(MODULE) == "the module's device"
    assert describe(BATCH) == "the device `batch` came on"
    assert describe(SETTING) == "`args.device`"
    assert describe(X) == "the device of `x`"
    assert describe(Known("cuda", SOME_INDEX)) == "cuda"
    assert describe(UNKNOWN) == "an unknown device"


def test_an_accelerator_is_one_on_every_arm() -> None:
    assert is_accelerator(Choice(FLAG, CUDA, Known("mps")))
    assert not is_accelerator(Choice(FLAG, CUDA, CPU))
    assert not is_accelerator(X)
    assert not is_accelerator(Known("meta"))


@given(devices, devices)
def test_relate_is_symmetric(a: Device, b: Device) -> None:
    assert relate(a, b) is relate(b, a)


@given(devices)
def test_no_device_clashes_with_itself(device: Device) -> None:
    assert relate(device, device) is not Relation.DIFFERENT


@given(st.sampled_from(GUARDS), devices)
def test_a_choice_between_equals_is_no_choice(guard: Guard, device: Device) -> None:
    assert choose(guard, device, device) == device


@given(st.sampled_from(GUARDS), devices, devices)
def test_choices_stay_within_their_bound(guard: Guard, then: Device, otherwise: Device) -> None:
    assert count_guards(choose(guard, then, otherwise)) <= MAX_GUARDS


@given(st.sampled_from(GUARDS), devices, devices)
def test_a_choice_ends_in_nothing_that_its_arms_do_not_end_in(guard: Guard, then: Device, otherwise: Device) -> None:
    assert set(leaves(choose(guard, then, otherwise))) <= {*leaves(then), *leaves(otherwise), UNKNOWN}


@given(st.sampled_from(GUARDS), st.booleans(), devices)
def test_assuming_twice_is_assuming_once(guard: Guard, holds: bool, device: Device) -> None:
    once = assume(device, guard, holds)
    assert assume(once, guard, holds) == once


@given(st.sampled_from(GUARDS), devices, devices)
def test_deciding_a_choice_gives_back_its_arm(guard: Guard, then: Device, otherwise: Device) -> None:
    joined = choose(guard, then, otherwise)
    if joined != UNKNOWN:
        assert assume(joined, guard, True) == assume(then, guard, True)
        assert assume(joined, guard, False) == assume(otherwise, guard, False)


@given(st.sampled_from(GUARDS), *[st.sampled_from(PLACES)] * 3)
def test_a_choice_made_again_keeps_the_later_arm(guard: Guard, a: Device, b: Device, c: Device) -> None:
    first = choose(guard, a, b)
    if UNKNOWN not in (first, choose(guard, a, c)):
        assert choose(guard, first, c) == choose(guard, a, c)
