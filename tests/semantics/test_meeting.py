"""The judge on operands of which little is known, with a device type of the test's own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from devlint.semantics import (
    Clash,
    Dim,
    DType,
    Elements,
    Factory,
    Meets,
    Operand,
    Operation,
    Parameter,
    Relation,
    Rule,
    Unclear,
    Verdict,
    aten,
    function,
    meet,
    method,
    operator,
)


def relate(a: str, b: str) -> Relation:
    """Devices are words; "?" compares to nothing, "caller" differs from the CPU and is unknown to all else."""
    if a == b and a != "?":
        return Relation.SAME
    movable = "caller" in (a, b) and "cpu" not in (a, b)
    return Relation.UNKNOWN if "?" in (a, b) or movable else Relation.DIFFERENT


def judge(operation: Operation | Factory | None, *operands: Operand[str]) -> Verdict[str]:
    assert isinstance(operation, Operation)
    return meet(operation, operands, relate, "cpu")


def at(device: str, role: str = "self", dim: Dim = Dim.NONZERO, **known: object) -> Operand[str]:
    return Operand(role, device, dim, **known)  # type: ignore[arg-type]


PLUS = operator("+")


def test_operands_on_one_device_meet_there() -> None:
    assert judge(PLUS, at("cuda:0"), at("cuda:0", "other")) == Meets("cuda:0")


def test_no_operands_meet_nowhere() -> None:
    assert judge(function("torch.cat")) == Meets(None)


def test_cpu_tensor_beside_the_callers_clashes() -> None:
    verdict = judge(PLUS, at("caller"), at("cpu", "other"))
    assert isinstance(verdict, Clash)
    assert (verdict.kind, verdict.operand, verdict.other) == ("mismatch_iterator", 1, 0)
    assert verdict.message == "operator.add: other and self are on different devices"


def test_cpu_operand_is_the_stray_one_wherever_it_stands() -> None:
    verdict = judge(PLUS, at("cpu"), at("cuda:0", "other"))
    assert isinstance(verdict, Clash)
    assert (verdict.operand, verdict.other) == (0, 1)


def test_tensor_that_may_be_0_dim_is_unclear() -> None:
    assert isinstance(judge(PLUS, at("caller"), at("cpu", "other", Dim.UNKNOWN)), Unclear)


def test_0_dim_cpu_tensor_meets_on_the_other_device() -> None:
    assert judge(PLUS, at("cpu", dim=Dim.ZERO), at("caller", "other")) == Meets("caller")


def test_accelerator_scalar_beside_a_larger_cpu_tensor_clashes() -> None:
    assert isinstance(judge(PLUS, at("cuda:0", dim=Dim.ZERO), at("cpu", "other")), Clash)


def test_in_place_target_of_unknown_dim_still_clashes() -> None:
    verdict = judge(operator("+="), at("cpu", dim=Dim.UNKNOWN), at("caller", "other"))
    assert isinstance(verdict, Clash)


def test_movable_against_another_movable_is_unclear() -> None:
    assert isinstance(judge(PLUS, at("caller"), at("cuda:1", "other")), Unclear)
    assert isinstance(judge(function("torch.mm"), at("caller", "input"), at("cuda:1", "mat2")), Unclear)


def test_a_clash_outweighs_an_unknown_device() -> None:
    verdict = judge(
        function("torch.cat"), at("?", "tensors"), at("cuda:0", "tensors"), at("cpu", "tensors", Dim.UNKNOWN)
    )
    assert isinstance(verdict, Clash)
    assert (verdict.kind, verdict.operand, verdict.other) == ("mismatch_exact", 2, 1)


def test_exact_check_names_the_first_that_differs_from_the_first() -> None:
    verdict = judge(function("torch.addmm"), at("cpu", "input"), at("cuda:0", "mat1"), at("cuda:0", "mat2"))
    assert isinstance(verdict, Clash)
    assert (verdict.operand, verdict.other) == (1, 0)


def test_out_is_checked_before_the_inputs() -> None:
    verdict = judge(function("torch.mm"), at("cuda:0", "input"), at("cuda:0", "mat2"), at("cpu", "out"))
    assert isinstance(verdict, Clash)
    assert (verdict.operand, verdict.other) == (0, 2)


def test_two_cpu_scalars_are_one_too_many() -> None:
    scalar = Dim.ZERO
    verdict = judge(
        function("torch.addcmul"), at("cuda:0", "input"), at("cpu", "tensor1", scalar), at("cpu", "tensor2", scalar)
    )
    assert isinstance(verdict, Clash)
    assert (verdict.kind, verdict.operand, verdict.other) == ("too_many_cpu_scalars", 2, 0)


@pytest.mark.parametrize("order", [("condition", "input", "other"), ("input", "other", "condition")])
def test_an_operand_of_unknown_place_may_be_the_one_that_says_where(order: tuple[str, str, str]) -> None:
    first, second, third = (at("?" if name == order[1] else "cpu", name, Dim.ZERO) for name in order)
    assert isinstance(judge(function("torch.where"), first, second, third), Unclear)
    assert judge(function("torch.where"), replace(first, device="cuda:0"), second, third) == Meets("cuda:0")
    wide = replace(third, dim=Dim.NONZERO, device="cuda:0")
    assert isinstance(judge(function("torch.where"), replace(first, dim=Dim.NONZERO), second, wide), Clash)
    assert isinstance(judge(function("torch.where"), first, second, wide), Unclear)


def test_one_0_dim_tensor_beside_a_list_of_several_is_a_number() -> None:
    listed = [at("cpu", "input", Dim.ZERO), at("cpu", "input", Dim.ZERO)]
    for dim in (Dim.ZERO, Dim.UNKNOWN):
        assert judge(function("torch._foreach_maximum"), *listed, at("cuda:0", "other", dim)) == Meets("cpu")
    wide = at("cuda:0", "other", Dim.NONZERO)
    assert isinstance(judge(function("torch._foreach_maximum"), *listed, wide), Unclear)


def test_where_takes_any_number_of_cpu_scalars() -> None:
    operands = [at("cuda:0", "condition"), at("cpu", "input", Dim.ZERO), at("cpu", "other", Dim.ZERO)]
    assert judge(function("torch.where"), *operands) == Meets("cuda:0")


@pytest.mark.parametrize(
    ("dim", "other", "expected"),
    [
        (Dim.NONZERO, Dim.ZERO, Clash),
        (Dim.ZERO, Dim.ZERO, Meets),
        (Dim.UNKNOWN, Dim.ZERO, Unclear),
        (Dim.UNKNOWN, Dim.UNKNOWN, Unclear),
    ],
)
def test_l1_loss_expands_before_it_subtracts(dim: Dim, other: Dim, expected: type) -> None:
    loss = function("torch.nn.functional.l1_loss")
    assert isinstance(judge(loss, at("cuda:0", "input", dim), at("cpu", "target", other)), expected)


def test_mse_loss_fails_whatever_the_dims() -> None:
    loss = function("torch.nn.functional.mse_loss")
    unknown = judge(loss, at("cuda:0", "input", Dim.UNKNOWN), at("cpu", "target", Dim.UNKNOWN))
    assert isinstance(unknown, Clash)


def test_copy_crosses_devices_and_keeps_its_target() -> None:
    assert judge(method("copy_"), at("cpu"), at("cuda:0", "src")) == Meets("cpu")


def test_argument_read_on_the_host_must_be_on_the_cpu() -> None:
    pack = function("torch.nn.utils.rnn.pack_padded_sequence")
    clash = judge(pack, at("cuda:0", "input"), at("cuda:0", "lengths"))
    assert isinstance(clash, Clash)
    assert (clash.kind, clash.operand, clash.other) == ("pack_lengths", 1, None)
    assert isinstance(judge(pack, at("cuda:0", "input"), at("?", "lengths")), Unclear)
    assert judge(pack, at("cuda:0", "input"), at("cpu", "lengths")) == Meets("cuda:0")


def test_free_argument_is_not_judged() -> None:
    assert judge(method("index_fill_"), at("cpu"), at("cpu", "index"), at("cuda:0", "value", Dim.ZERO)) == Meets("cpu")


def test_generator_is_compared_by_type_only() -> None:
    fill = method("normal_")
    assert isinstance(judge(fill, at("cuda:0"), at("cpu", "generator")), Clash)
    assert judge(fill, at("cuda:0"), at("cuda:1", "generator")) == Meets("cuda:0")


def test_operation_of_unknown_check_is_judged_only_when_all_agree() -> None:
    masked = method("sparse_mask")
    assert judge(masked, at("cuda:0"), at("cuda:0", "mask")) == Meets("cuda:0")
    assert isinstance(judge(masked, at("cuda:0"), at("cpu", "mask")), Unclear)


def test_ctc_loss_brings_targets_and_lengths_over_itself() -> None:
    loss = function("torch.nn.functional.ctc_loss")
    lengths = (at("cuda:0", "input_lengths"), at("cpu", "target_lengths"))
    assert judge(loss, at("cuda:0", "log_probs"), at("cpu", "targets"), *lengths) == Meets("cuda:0")


def test_weights_of_a_loss_may_be_cpu_scalars() -> None:
    loss = function("torch.nn.functional.binary_cross_entropy_with_logits")
    operands = (at("cuda:0", "input"), at("cuda:0", "target"))
    assert judge(loss, *operands, at("cpu", "pos_weight", Dim.ZERO)) == Meets("cuda:0")
    assert isinstance(judge(loss, *operands, at("cpu", "pos_weight")), Clash)


def test_convolution_names_the_cpu_operand() -> None:
    verdict = judge(aten("convolution"), at("cuda:0", "input"), at("cpu", "weight"))
    assert isinstance(verdict, Clash)
    assert (verdict.kind, verdict.operand) == ("conv_type", 1)


def test_foreach_meets_pair_by_pair() -> None:
    add = function("torch._foreach_add")
    firsts = [at("cuda:0", "input"), at("cpu", "input")]
    assert judge(add, *firsts, at("cuda:0", "other"), at("cpu", "other")) == Meets("cuda:0")
    assert isinstance(judge(add, *firsts, at("cpu", "other"), at("cpu", "other")), Clash)
    assert isinstance(judge(add, *firsts, *[at("cpu", "other")] * 3), Unclear)
    assert judge(add, at("cuda:0", "input"), at("cpu", "other", Dim.ZERO)) == Meets("cuda:0")


def test_foreach_scalar_tensor_is_read_at_the_dispatcher() -> None:
    many = [at("cuda:0", "self"), at("cuda:0", "self")]
    assert judge(aten("_foreach_mul.Tensor"), *many, at("cpu", "other", Dim.ZERO)) == Meets("cuda:0")
    assert judge(aten("_foreach_add.Tensor"), *many, at("cpu", "other", Dim.ZERO)) == Meets("cuda:0")


def test_composite_of_the_dispatcher_is_as_strict_as_can_be() -> None:
    assert aten("linalg_solve").rule is Rule.EXACT_SAME


def test_target_of_an_operation_without_parameters_is_no_output() -> None:
    bare = Operation("bare", Rule.TENSOR_ITERATOR, (Parameter("self", "tensor"),), frozenset({"other"}))
    assert judge(bare, at("cuda:0"), at("cpu", "other", Dim.ZERO)) == Meets("cuda:0")


def test_operand_defaults_to_nothing_known() -> None:
    assert Operand("x", "cpu") == Operand("x", "cpu", Dim.UNKNOWN, Elements.UNKNOWN, DType.UNKNOWN)


def test_operands_that_must_all_be_on_the_cpu_meet_there() -> None:
    both = (Parameter("self", "tensor"), Parameter("other", "tensor"))
    bare = Operation("bare", Rule.EXACT_SAME, both, cpu_arguments=frozenset({"self", "other"}))
    assert judge(bare, at("cpu"), at("cpu", "other")) == Meets("cpu")
    assert isinstance(judge(bare, at("cpu"), at("cuda:0", "other")), Clash)


ZERO = Dim.ZERO


def test_two_cpu_scalars_crowd_one_kernel_but_not_one_after_another() -> None:
    operands = (at("cuda:0", "input1"), at("cpu", "input2", ZERO), at("cpu", "target", ZERO))
    at_once = Operation("three", Rule.TENSOR_ITERATOR, zero_dim=frozenset({"input2", "target"}))
    crowded = judge(at_once, *operands)
    assert isinstance(crowded, Clash)
    assert crowded.kind == "too_many_cpu_scalars"
    assert judge(function("torch.margin_ranking_loss"), *operands) == Meets("cuda:0")


def test_a_scalar_that_sometimes_passes_is_not_judged() -> None:
    linear = function("torch.nn.functional.linear")
    matrices = (at("cuda:0", "input"), at("cuda:0", "weight"))
    assert isinstance(judge(linear, *matrices, at("cpu", "bias", ZERO)), Unclear)
    assert isinstance(judge(linear, *matrices, at("cpu", "bias", Dim.UNKNOWN)), Unclear)
    assert isinstance(judge(linear, *matrices, at("cpu", "bias")), Clash)
    assert isinstance(judge(linear, *matrices, at("cuda:1", "bias", ZERO)), Clash)
    cosine = function("torch.nn.functional.cosine_embedding_loss")
    rows = (at("cuda:0", "input1"), at("cuda:0", "input2"))
    assert judge(cosine, *rows, at("cpu", "target", ZERO)) == Meets("cuda:0")
    assert isinstance(judge(cosine, *rows, at("cuda:1", "target", ZERO)), Unclear)
    assert isinstance(judge(cosine, *rows, at("cpu", "target")), Clash)
    smooth = function("torch.nn.functional.smooth_l1_loss")
    assert isinstance(judge(smooth, at("cuda:0", "input", ZERO), at("cpu", "target", ZERO)), Unclear)
    assert isinstance(judge(smooth, at("cuda:0", "input"), at("cpu", "target", ZERO)), Clash)


def test_a_result_written_into_out_is_there() -> None:
    assert judge(function("torch.bernoulli"), at("cuda:0", "input"), at("cpu", "out")) == Meets("cpu")


def test_where_looks_at_its_operands_in_its_own_order() -> None:
    loss = function("torch.nn.functional.hinge_embedding_loss")
    assert judge(loss, at("cuda:0", "input", ZERO), at("cuda:1", "target", ZERO)) == Meets("cuda:1")
    assert judge(loss, at("cuda:0", "input", ZERO), at("cuda:1", "target")) == Meets("cuda:1")
    assert isinstance(judge(loss, at("cuda:0", "input"), at("cuda:1", "target", ZERO)), Clash)


@pytest.mark.parametrize("name", ["torch.masked.sum", "torch.masked.softmax"])
def test_a_mask_is_spread_over_the_input_first(name: str) -> None:
    assert isinstance(judge(function(name), at("cuda:0", "input"), at("cpu", "mask", ZERO)), Clash)
    assert judge(function(name), at("cuda:0", "input", ZERO), at("cpu", "mask", ZERO)) == Meets("cuda:0")
    assert judge(function(name), at("cuda:0", "input", ZERO), at("cuda:1", "mask", ZERO)) == Meets("cuda:0")


@pytest.mark.parametrize(
    ("name", "same"), [("torch._foreach_add", Meets), ("torch._foreach_sub", Meets), ("torch._foreach_mul", Clash)]
)
def test_a_scalar_in_place_of_a_list_is_read_or_meets_every_tensor(name: str, same: type) -> None:
    lists = (at("cpu", "input"), at("cuda:0", "input"))
    assert isinstance(judge(function(name), *lists, at("cuda:0", "other", ZERO)), same)
    assert isinstance(judge(function(name), *lists, at("cpu", "other", ZERO)), Meets)


def test_a_list_of_one_beside_a_scalar_or_a_list_of_one_is_not_judged() -> None:
    verdict = judge(function("torch._foreach_add"), at("cuda:0", "input"), at("cuda:1", "other", ZERO))
    assert isinstance(verdict, Unclear)
    assert judge(function("torch._foreach_add"), at("cuda:0", "input"), at("cpu", "other", ZERO)) == Meets("cuda:0")


def test_pairs_are_judged_as_the_operation_they_are_named_after() -> None:
    lerp = function("torch._foreach_lerp")
    assert isinstance(judge(lerp, at("cuda:0", "input"), at("cpu", "tensors1", ZERO)), Clash)
    add = function("torch._foreach_add")
    pairs = (at("cuda:0", "input"), at("cuda:0", "input"), at("cuda:0", "other"), at("cpu", "other", ZERO))
    assert judge(add, *pairs) == Meets("cuda:0")
    assert isinstance(judge(add, *pairs[:3], at("cpu", "other")), Clash)
    assert isinstance(judge(add, *pairs[:3], at("cpu", "other", Dim.UNKNOWN)), Unclear)


def test_what_has_no_cuda_kernel_takes_cpu_tensors_alone() -> None:
    verdict = judge(function("torch.histogram"), at("cuda:0", "input"))
    assert isinstance(verdict, Clash)
    assert (verdict.kind, verdict.other) == ("no_cuda_kernel", None)
    narrowed = function("torch.narrow_copy")
    assert isinstance(judge(narrowed, at("cuda:0", "input"), at("cuda:0", "out")), Clash)
    assert isinstance(judge(narrowed, at("cuda:0", "input"), at("cpu", "out")), Clash)
    assert judge(narrowed, at("cuda:0", "input")) == Meets("cuda:0")


def test_an_overload_is_known_by_its_own_name() -> None:
    assert function("torch.ops.aten.add.Tensor") == aten("add.Tensor")
    assert function("torch.ops.aten._safe_softmax.default") == aten("_safe_softmax")
