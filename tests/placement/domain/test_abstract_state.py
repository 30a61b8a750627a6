"""States: what names hold after branches join."""

from __future__ import annotations

from devlint.placement.domain.abstract_state import AbstractState, join
from devlint.placement.domain.abstract_values import (
    NOTHING,
    Constant,
    Container,
    DeviceName,
    Host,
    Kind,
    Module,
    Opaque,
    Tensor,
    Truth,
)
from devlint.placement.domain.events import Stored
from devlint.placement.domain.lattice import CPU, SOME_INDEX, Guard, Known
from devlint.placement.domain.stream_order import NO_SIDE_STREAM, StreamOrder
from devlint.placement.domain.value_join import join_values
from devlint.semantics import Dim
from tests.placement.walked import clashes, device, events_of, place, returned, stored

FLAG = Guard("f:flag@", "flag")
ON_CPU, ON_CUDA = Tensor(CPU), Tensor(Known("cuda"))


def test_a_tensor_moved_in_one_arm_is_a_choice_afterwards() -> None:
    program = """
    def f(x: torch.Tensor, wide: bool):
        y = torch.zeros(3, device="cuda")
        if wide:
            y = torch.zeros(4, device="mps")
        z = y
    """
    assert device(program, "z") == "mps if wide else cuda"


def test_arms_compared_under_one_guard_agree() -> None:
    program = """
    def f(x: torch.Tensor, use_cuda: bool):
        w = torch.ones(3)
        if use_cuda:
            w = w.cuda()
        b = torch.ones(3)
        if use_cuda:
            b = b.cuda()
        return w + b
    """
    assert clashes(program) == []


def test_an_operand_left_out_of_the_guard_clashes_with_the_moved_one() -> None:
    program = """
    def f(use_cuda: bool):
        w = torch.ones(3)
        if use_cuda:
            w = w.cuda()
        b = torch.ones(3)
        return w + b
    """
    assert clashes(program) == ["w + b"]


def test_a_rebound_flag_is_another_condition() -> None:
    program = """
    def f(wide: bool):
        w = torch.ones(3)
        b = torch.ones(3)
        if wide:
            w = w.cuda()
        wide = g()
        if wide:
            b = b.cuda()
        return w + b
    """
    # Four outcomes, of which two agree: nothing is certain.
    assert clashes(program) == []


def test_an_early_return_leaves_the_other_arm_only() -> None:
    program = """
    def f(wide: bool):
        y = torch.ones(3)
        if wide:
            y = y.cuda()
            return y
        z = y
    """
    assert device(program, "z") == "cpu"


def test_a_name_bound_in_one_arm_only_is_what_that_arm_gave_it() -> None:
    program = """
    def f(wide: bool):
        if wide:
            y = torch.ones(3)
        z = y
    """
    assert device(program, "z") == "cpu"


def test_a_part_replaced_in_one_arm_only_is_uncertain() -> None:
    program = """
    def f(box, wide: bool):
        if wide:
            box.w = torch.ones(3)
        z = box.w
    """
    assert device(program, "z") == "an unknown device"


def test_storing_a_name_forgets_its_parts() -> None:
    state = AbstractState()
    state.store("box.w", ON_CPU)
    state.store("box['k']", ON_CPU)
    state.store("boxes", ON_CPU)
    state.store("box", NOTHING)
    assert set(state.values) == {"box", "boxes"}


def test_a_copy_of_a_state_is_its_own() -> None:
    state = AbstractState()
    other = state.copy()
    other.store("x", ON_CPU)
    other.streams = other.streams.waited("a", "b")
    assert (state.values, state.versions, state.streams) == ({}, {}, NO_SIDE_STREAM)


def test_narrowing_decides_the_choices_under_that_guard() -> None:
    state = AbstractState()
    state.store("x", join_values(FLAG, ON_CUDA, ON_CPU))
    assert state.narrowed(FLAG, True).values["x"] == ON_CUDA
    assert state.narrowed(FLAG, False).values["x"] == ON_CPU
    assert place(state.narrowed(Guard("another"), True).values["x"]) == "cuda if flag else cpu"


def test_an_arm_that_never_ends_has_no_part_in_the_join() -> None:
    state = AbstractState()
    assert join(FLAG, state, None) is state
    assert join(FLAG, None, state) is state
    assert join(FLAG, None, None) is None


def test_settings_join_like_values() -> None:
    then, otherwise = AbstractState(default_device=Known("cuda")), AbstractState()
    then.context_device = otherwise.context_device = CPU
    then.current_index, otherwise.current_index = 0, 1
    then.streams = StreamOrder(waits={("a", "b"): 4, ("a", "c"): 4}, ordered_until=3)
    otherwise.streams = StreamOrder(waits={("a", "b"): 2}, ordered_until=1)
    joined = join(None, then, otherwise)
    assert joined is not None
    assert (joined.context_device, joined.current_index) == (CPU, SOME_INDEX)
    assert (joined.streams.ordered_until, joined.streams.waits) == (1, {("a", "b"): 2})


def test_dimensions_that_differ_are_unknown_after_a_join() -> None:
    assert join_values(FLAG, Tensor(CPU, Dim.ZERO), Tensor(CPU, Dim.NONZERO)) == Tensor(CPU, Dim.UNKNOWN)


def test_parameter_and_buffer_both_follow_the_module() -> None:
    joined = join_values(None, Tensor(CPU, kind=Kind.PARAMETER), Tensor(CPU, kind=Kind.BUFFER))
    assert isinstance(joined, Tensor)
    assert joined.kind is Kind.BUFFER
    plain = join_values(None, Tensor(CPU, kind=Kind.PARAMETER), Tensor(CPU))
    assert isinstance(plain, Tensor)
    assert plain.kind is Kind.PLAIN


def test_tensor_or_none_is_the_tensor_where_it_is_used() -> None:
    assert join_values(FLAG, ON_CPU, Constant(None)) == ON_CPU
    assert join_values(FLAG, Constant(None), ON_CPU) == ON_CPU


def test_tensor_or_number_is_the_tensor_where_it_matters() -> None:
    """A number meets tensors anywhere; the tensor of the other arm does not."""
    assert join_values(FLAG, Tensor(CPU, Dim.NONZERO), Constant(0)) == Tensor(CPU, Dim.NONZERO)


def test_tensor_or_string_has_no_certain_dimension() -> None:
    assert join_values(FLAG, Tensor(CPU, Dim.NONZERO), Constant("mean")) == Tensor(CPU, Dim.UNKNOWN)


def test_tensor_or_anything_is_known_in_its_own_arm_only() -> None:
    assert place(join_values(FLAG, ON_CPU, NOTHING)) == "cpu if flag"
    assert place(join_values(FLAG, NOTHING, ON_CPU)) == "an unknown device if flag else cpu"
    assert place(join_values(None, ON_CPU, NOTHING)) == "an unknown device"


def test_tensor_and_opaque_value_join_to_a_likely_tensor() -> None:
    assert place(join_values(FLAG, ON_CPU, Opaque(Known("cuda")))) == "cpu if flag else cuda"
    joined = join_values(FLAG, Opaque(CPU, tensorlike=True), Opaque(Known("cuda")))
    assert isinstance(joined, Opaque)
    assert not joined.tensorlike


def test_modules_of_two_classes_join_to_a_module_of_no_class() -> None:
    joined = join_values(FLAG, Module(CPU, "torch.nn.Linear"), Module(CPU, "torch.nn.Conv2d"))
    assert joined == Module(CPU, "")


def test_a_string_and_a_device_join_to_a_choice_of_devices() -> None:
    program = """
    def f(x: torch.Tensor, fast: bool, device=None):
        if device is None:
            device = "cpu"
        if fast:
            name = "cuda"
        else:
            name = "cpu"
        if fast:
            word = "sum"
        else:
            word = "mean"
        y = torch.ones(3, device=device)
        z = torch.ones(3, device=name)
        kept = word
    """
    assert device(program) == "cpu if device is None else `device`"
    assert device(program, "z") == "cuda if fast else cpu"
    assert stored(program, "kept") == Host()


def test_module_or_none_is_the_module_where_it_is_called() -> None:
    assert join_values(FLAG, Module(CPU), Constant(None)) == Module(CPU)
    assert join_values(FLAG, Constant(None), Module(CPU)) == Module(CPU)
    assert join_values(FLAG, Module(CPU), Constant(3)) == NOTHING


def test_device_names_join_to_a_choice_and_to_nothing_beside_other_values() -> None:
    assert place(join_values(FLAG, DeviceName(CPU), DeviceName(Known("cuda")))) == "cpu if flag else cuda"
    assert place(join_values(FLAG, DeviceName(CPU), Host())) == "an unknown device"


def test_truths_that_differ_are_open() -> None:
    assert join_values(FLAG, Truth(True), Truth(False, about_device=True)) == Truth(None, about_device=True)
    assert join_values(FLAG, Truth(True), Truth(True, about_device=True)) == Truth(True, about_device=True)


def test_containers_of_one_shape_join_item_by_item() -> None:
    joined = join_values(FLAG, Container((ON_CPU,), None, ON_CPU), Container((ON_CUDA,)))
    assert isinstance(joined, Container)
    assert place(joined.items[0]) == "cpu if flag else cuda"
    assert joined.rest == ON_CPU


def test_sequences_of_different_lengths_hold_what_either_holds() -> None:
    longer = join_values(FLAG, Container((ON_CPU,)), Container(()))
    assert longer == Container((), None, ON_CPU)
    joined = join_values(FLAG, Container((ON_CPU, ON_CPU)), Container((ON_CUDA,)))
    assert isinstance(joined, Container)
    assert joined.rest is not None
    assert place(joined.rest) == "cpu if flag else cuda"
    assert join_values(FLAG, Container((ON_CPU,), type="tuple"), Container((), type="list")) != longer


def test_plain_values_join_to_a_plain_value() -> None:
    number, array = Host(number=True), Host(numpy=True)
    assert join_values(FLAG, Host(), Constant(1)) == Host()
    assert join_values(FLAG, number, Constant(1)) == number
    assert join_values(FLAG, Constant(2.5), Constant(1)) == number
    assert join_values(FLAG, array, array) == array
    assert join_values(FLAG, array, Constant(1)) == Host()


def test_none_and_a_plain_value_join_to_nothing() -> None:
    assert join_values(FLAG, Host(), Constant(None)) == NOTHING
    assert join_values(FLAG, Constant(None), Constant("sum")) == NOTHING


def test_a_condition_that_moves_holds_exactly_when_it_must() -> None:
    program = """
    def f(x: torch.Tensor, far: bool):
        w = torch.ones(3)
        if far:
            w = w.to(x.device)
        return w + x
    """
    assert clashes(program) == []


def test_a_creation_in_one_arm_is_not_taken_for_a_move() -> None:
    program = """
    def f(x: torch.Tensor, wide: bool):
        if wide:
            w = torch.ones(3, device=x.device)
        else:
            w = torch.ones(3)
        return w + x
    """
    assert clashes(program) == ["w + x"]


def test_an_empty_placeholder_is_not_what_is_computed_with() -> None:
    program = """
    def f(x: torch.Tensor, wide: bool):
        w = torch.tensor([])
        if wide:
            w = x * 2
        return w + x
    """
    assert clashes(program) == []


def test_a_placeholder_of_no_elements_gives_way_in_either_arm() -> None:
    program = """
    def f(x: torch.Tensor, wide: bool):
        if wide:
            w = torch.empty(0)
        else:
            w = x * 2
        return w + x
    """
    assert clashes(program) == []


def test_a_value_that_is_no_placeholder_stays_in_its_arm() -> None:
    program = """
    def f(x: torch.Tensor, wide: bool):
        w = torch.empty(4)
        if wide:
            w = x * 2
        return w + x
    """
    assert clashes(program) == ["w + x"]


def test_returns_join_under_their_conditions() -> None:
    program = """
    def f(x: torch.Tensor, wide: bool):
        if wide:
            return torch.ones(3, device="cuda")
        return torch.ones(3, device="mps")

    def g(x: torch.Tensor):
        y = f(x, True)
    """
    assert [place(value) for value in returned(program)] == ["cuda", "mps"]
    assert device(program) == "cuda if wide else mps"


def test_an_annotation_without_a_value_binds_nothing() -> None:
    program = """
    def f(x: torch.Tensor):
        y: torch.Tensor
        y: torch.Tensor = torch.ones(3)
    """
    assert len([event for event in events_of(Stored, program) if event.target == "y"]) == 1
    assert device(program) == "cpu"


def test_the_dimension_of_the_arm_on_the_cpu_decides_the_meeting() -> None:
    program = """
    def f(x: torch.Tensor, bias: torch.Tensor = None):
        if bias is None:
            bias = {made}
        return x + bias
    """
    assert clashes(program.format(made="torch.ones(3)")) == ["x + bias"]
    assert clashes(program.format(made="torch.tensor(0.0)")) == []
