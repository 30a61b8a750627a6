"""Facts looked up by name, and what importing the rulebook costs."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch

from devlint.semantics import (
    DType,
    Factory,
    ModuleInfo,
    Operation,
    Parameter,
    Result,
    Rule,
    Shape,
    Transfer,
    aten,
    function,
    is_device_probe,
    is_tensor_attribute,
    method,
    module,
    operator,
    probe_for,
    process_setting,
    raises_without,
    refused_device,
    tables,
    transfer,
)
from devlint.semantics.generate.names import lookup


def operation(name: str) -> Operation:
    found = method(name[7:]) if name.startswith("Tensor.") else function(name)
    assert isinstance(found, Operation), name
    return found


def test_importing_semantics_imports_neither_torch_nor_libcst_nor_other_rooms() -> None:
    program = (
        "import sys, devlint.semantics as s; s.function('torch.add'); s.module('torch.nn.Linear');"
        "print(sorted(m for m in sys.modules if m.split('.')[0] in ('torch', 'libcst', 'devlint')))"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    loaded = [m for m in eval(printed) if m not in ("devlint", "devlint.semantics")]
    assert loaded
    assert all(m.startswith("devlint.semantics.") and "generate" not in m for m in loaded)


def test_functions_written_in_python_are_known() -> None:
    names = "cross_entropy mse_loss pad one_hot embedding scaled_dot_product_attention dropout softmax interpolate"
    for name in names.split():
        assert operation(f"torch.nn.functional.{name}").parameters


def test_a_function_names_its_first_tensor_input_and_a_method_self() -> None:
    assert operation("torch.add").parameters[0] == Parameter("input", "tensor")
    assert operation("Tensor.add").parameters[0] == Parameter("self", "tensor")


def test_one_parameter_list_stands_for_all_overloads() -> None:
    both = operation("torch.max")
    assert both.parameters[1] == Parameter("other", "tensor", also=("dim",))
    assert both.tuple_with >= {"dim"}
    assert both.shape is Shape.REDUCTION
    assert both.reduced_by == {"dim", "other"}


def test_lists_and_keyword_only_parameters_are_marked() -> None:
    tensors, dim, out = operation("torch.cat").parameters
    assert (tensors.kind, dim.kind, out.keyword_only) == ("tensors", "other", True)


def test_in_place_target_is_no_scalar() -> None:
    assert operation("torch.add").zero_dim == {"input", "other"}
    assert operation("Tensor.add_").zero_dim == {"other"}
    assert operation("Tensor.greater_").zero_dim == {"other"}


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("torch.add", Shape.BROADCAST),
        ("torch.relu_", Shape.SAME),
        ("Tensor.sum", Shape.REDUCTION),
        ("torch.std", Shape.REDUCTION),
        ("torch.dot", Shape.ZERO),
        ("torch.mm", Shape.NONZERO),
        ("Tensor.unsqueeze", Shape.NONZERO),
        ("Tensor.squeeze", Shape.SQUEEZED),
        ("Tensor.reshape", Shape.UNKNOWN),
        ("torch.matmul", Shape.UNKNOWN),
        ("torch.nn.functional.cross_entropy", Shape.REDUCTION),
        ("torch.nn.functional.softmax", Shape.SAME),
    ],
)
def test_dims_of_results(name: str, shape: Shape) -> None:
    assert operation(name).shape is shape


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("Tensor.item", Result.HOST),
        ("Tensor.tolist", Result.HOST),
        ("Tensor.size", Result.HOST),
        ("torch.equal", Result.HOST),
        ("Tensor.numpy", Result.NUMPY),
        ("Tensor.cpu", Result.CPU),
        ("Tensor.copy_", Result.SELF),
        ("Tensor.type_as", Result.OTHER),
        ("torch.add", Result.OPERANDS),
        ("Tensor.backward", Result.NOTHING),
    ],
)
def test_places_of_results(name: str, result: Result) -> None:
    assert operation(name).result is result


def test_tuples_dtypes_and_synchronisation() -> None:
    assert operation("torch.topk").returns_tuple
    assert operation("torch.where").tuple_without == {"input", "other"}
    assert operation("torch.eq").result_dtype is DType.BOOL
    assert operation("torch.argmax").result_dtype is DType.INT
    assert operation("Tensor.item").synchronises
    assert not operation("torch.add").synchronises


def test_operators_are_methods_under_a_sign() -> None:
    assert operator("+").name == "operator.add"
    assert operator("@").rule is Rule.EXACT_SAME
    assert operator("==").result_dtype is DType.BOOL
    assert operator("+=").in_place
    assert operator("[]").rule is Rule.INDEX_READ
    assert operator("[]=").rule is Rule.INDEX_WRITE
    assert operator("bool").synchronises
    assert operator("<=>").rule is Rule.UNKNOWN


@pytest.mark.parametrize("symbol", tables.rows("operators"))
def test_every_operator_has_a_check(symbol: str) -> None:
    assert operator(symbol).rule is not Rule.UNKNOWN


def test_factories_say_what_sets_the_device() -> None:
    zeros = function("torch.zeros")
    assert isinstance(zeros, Factory)
    assert (zeros.default, zeros.follows_context, zeros.takes_device) == ("default_device", True, True)
    assert "device" in zeros.keyword_only
    like = function("torch.rand_like")
    assert isinstance(like, Factory)
    assert (like.default, like.random, like.shape) == ("input", True, Shape.SAME)
    legacy = function("torch.FloatTensor")
    assert isinstance(legacy, Factory)
    assert (legacy.legacy, legacy.default, legacy.dtype) == (True, "cpu", DType.OTHER)
    new = method("new_zeros")
    assert isinstance(new, Factory)
    assert new.default == "self"


def test_normal_is_a_factory_of_numbers_and_an_operation_of_tensors() -> None:
    normal = function("torch.normal")
    assert isinstance(normal, Factory)
    assert normal.with_tensors is not None
    assert normal.with_tensors.rule is Rule.EXACT_SAME


def test_bounds_are_read_on_the_host() -> None:
    linspace = function("torch.linspace")
    assert isinstance(linspace, Factory)
    assert linspace.reads_bounds


def test_modules_say_whether_they_hold_state() -> None:
    state = {
        n: m.holds_state
        for n in ("Linear", "ReLU", "BatchNorm1d", "CrossEntropyLoss")
        if (m := module(f"torch.nn.{n}"))
    }
    assert state == {"Linear": True, "ReLU": False, "BatchNorm1d": True, "CrossEntropyLoss": False}


def test_constructor_arguments_give_and_take_state() -> None:
    norm, loss, batch = (module(f"torch.nn.{n}") for n in ("LayerNorm", "CrossEntropyLoss", "BatchNorm2d"))
    assert norm is not None
    assert norm.stateless_without == {"elementwise_affine"}
    assert loss is not None
    assert loss.state_with == {"weight"}
    assert batch is not None
    assert batch.stateless_without == {"affine", "track_running_stats"}


def test_a_class_may_be_named_by_its_file() -> None:
    assert module("torch.nn.modules.linear.Linear") == module("torch.nn.Linear")


def test_an_unbound_method_is_the_method() -> None:
    assert function("torch.Tensor.add") == method("add")


def test_losses_are_judged_as_their_function() -> None:
    loss = module("torch.nn.CrossEntropyLoss")
    assert isinstance(loss, ModuleInfo)
    assert loss.loss
    assert loss.call_operation == function("torch.nn.functional.cross_entropy")
    poisson = module("torch.nn.PoissonNLLLoss")
    assert poisson is not None
    assert poisson.call_operation is not None
    assert poisson.operands == ("log_input", "target")
    assert poisson.call_operation.zero_dim == {"log_input", "target"}


@pytest.mark.parametrize("name", [n for n, row in tables.rows("modules").items() if row.get("loss")])
def test_every_stateless_loss_has_a_function(name: str) -> None:
    found = module(name)
    assert found is not None
    assert found.holds_state or found.call_operation is not None


def test_recurrent_modules_return_tuples_and_take_states() -> None:
    lstm = module("torch.nn.LSTM")
    assert lstm is not None
    assert (lstm.returns, lstm.operands) == ("tuple", ("input", "hx"))
    container = module("torch.nn.ModuleList")
    assert container is not None
    assert container.container


def test_unknown_names_are_none() -> None:
    assert function("numpy.add") is None
    assert function("torch.no_such") is None
    assert method("no_such") is None
    assert module("torch.nn.NoSuch") is None
    assert aten("mkldnn_linear").rule is Rule.EXACT_SAME
    assert transfer("torch.Tensor", "sum") is None
    assert is_tensor_attribute("no_such") is None


def test_transfers_know_their_receiver() -> None:
    assert transfer("torch.Tensor", "cuda") == Transfer("torch.Tensor", "cuda", "new_or_self", True)
    kept = transfer("torch.nn.Module", "to")
    assert kept is not None
    assert (kept.effect, kept.discard_is_bug) == ("in_place", False)
    missing = transfer("torch.optim.Optimizer", "to")
    assert missing is not None
    assert (missing.effect, missing.discard_is_bug) == ("missing", None)


@pytest.mark.parametrize("row", [row for row in tables.rows("transfers").values() if row["effect"] == "missing"])
def test_what_has_no_transfers_has_none(row: tables.Row) -> None:
    for receiver, name in ((receiver, name) for receiver in row["receivers"] for name in row["methods"]):
        assert not hasattr(lookup(receiver), name)


@pytest.mark.parametrize(
    "name", [n for n in tables.rows("probes") if not n.startswith(("torch.npu", "torch.hpu", "torch_"))]
)
def test_every_probe_of_torch_is_a_function(name: str) -> None:
    assert is_device_probe(name)
    assert callable(lookup(name))


@pytest.mark.parametrize("name", tables.rows("refusals"))
def test_what_needs_an_accelerator_has_a_question_of_its_own_kind(name: str) -> None:
    kind = raises_without(name)
    assert kind is not None
    assert kind.lower() in probe_for(kind)
    assert lookup(probe_for(kind))() in (True, False)


@pytest.mark.parametrize("name", tables.rows("refusals"))
def test_what_needs_an_accelerator_raises_on_a_build_for_the_cpu(name: str) -> None:
    if torch.accelerator.is_available():
        pytest.skip("this machine has an accelerator")
    needed: dict[str, tuple[Any, ...]] = {
        "torch.cuda.device": (0,),
        "torch.cuda.set_per_process_memory_fraction": (0.5,),
        "torch.cuda.caching_allocator_alloc": (8,),
        "torch.cuda.can_device_access_peer": (0, 1),
        "torch.cuda.nvtx.mark": ("here",),
        "torch.cuda.nvtx.range_push": ("here",),
        "torch.cuda.set_sync_debug_mode": ("warn",),
    }
    arguments = needed.get(name, (0,) if name.endswith("get_device_properties") else ())
    with pytest.raises((AssertionError, AttributeError, RuntimeError), match=r"(?i)cuda|xpu|mps|dummy base class"):
        _called_and_entered(lookup(name), arguments)


@pytest.mark.parametrize("name", [name for name in tables.rows("refusals") if refused_device(name) is not None])
def test_what_refuses_the_cpu_takes_a_device_there(name: str) -> None:
    function = lookup(name)
    called = function.__new__ if name.endswith(".Stream") else function
    parameters = [one for one in inspect.signature(called).parameters if one != "cls"]
    assert parameters[refused_device(name) or 0] == "device"


def _called_and_entered(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """A context raises where it is entered, any other one where it is called."""
    with function(*arguments):
        pass


@pytest.mark.parametrize("name", ["empty_cache", "manual_seed_all", "max_memory_allocated", "device_count"])
def test_what_does_nothing_without_an_accelerator_is_no_refusal(name: str) -> None:
    assert raises_without(f"torch.cuda.{name}") is None
    assert raises_without("torch.cuda.synchronize") == "CUDA"


@pytest.mark.parametrize("name", [n for n in tables.rows("settings") if not n.startswith("torch.npu")])
def test_every_setting_of_torch_takes_what_it_is_set_to(name: str) -> None:
    setting = process_setting(name)
    assert setting is not None
    assert setting[1] in inspect.signature(lookup(name)).parameters


@pytest.mark.parametrize("name", tables.rows("attributes"))
def test_every_attribute_is_one_of_a_tensor(name: str) -> None:
    assert not callable(getattr(torch.Tensor, name))
    if is_tensor_attribute(name) == "tensor" and name not in ("grad", "imag"):
        assert isinstance(getattr(torch.ones(2, 2), name), torch.Tensor)


@pytest.mark.parametrize(
    ("written", "public"),
    [
        ("torchvision.ops.nms", "torchvision.ops.nms"),
        ("torchvision.ops.boxes.box_iou", "torchvision.ops.box_iou"),
        ("torchvision.ops.focal_loss.sigmoid_focal_loss", "torchvision.ops.sigmoid_focal_loss"),
        ("torchvision.transforms.functional.erase", "torchvision.transforms.functional.erase"),
        ("torchvision.transforms.v2.functional.resize", "torchvision.transforms.functional.resize"),
    ],
)
def test_function_of_torchvision_is_known_by_any_of_its_names(written: str, public: str) -> None:
    found = function(written)
    assert isinstance(found, Operation)
    assert found.name == public


def test_other_names_of_torchvision_are_unknown() -> None:
    assert function("torchvision.models.resnet18") is None
    assert function("torchvision.ops.RoIAlign") is None


def test_by_hand_rows_name_things_that_exist() -> None:
    for name in tables.rows("operations_by_hand"):
        assert lookup(name) is not None, name
    for name in (n for n in tables.rows("aten_by_hand") if n != ""):
        base, _, overload = name.partition(".")
        assert hasattr(getattr(torch.ops.aten, base), overload or "default"), name
