"""``torch.nn`` modules and modules of the file: made, wrapped, called."""

from __future__ import annotations

import pytest

from devlint.placement.domain.abstract_values import Kind, Module, Opaque, Tensor, UnknownValue
from devlint.placement.domain.events import DeviceMismatch, DeviceNamed
from devlint.placement.domain.lattice import UNKNOWN
from devlint.semantics import Dim
from tests.placement.walked import clashes, device, events_of, place, stored


def test_a_module_is_made_where_a_bare_factory_would_make_it() -> None:
    program = """
    a = nn.Linear(3, 3)
    b = nn.Linear(3, 3, device="cuda")
    c = nn.Linear(3, 3, device=None)
    with torch.device("mps"):
        d = nn.Linear(3, 3)
    """
    assert [device(program, name) for name in "abcd"] == ["cpu", "cuda", "cpu", "mps"]


def test_keyword_unpacking_may_place_a_module() -> None:
    program = """
    def f(options):
        y = nn.Linear(3, 3, **options)
    """
    assert device(program) == "an unknown device"


@pytest.mark.parametrize(
    ("made", "stateless"),
    [
        ("nn.Linear(3, 3)", False),
        ("nn.ReLU()", True),
        ("nn.CrossEntropyLoss()", True),
        ("nn.CrossEntropyLoss(weight=torch.ones(3))", False),
        ("nn.Sequential(nn.ReLU(), nn.Tanh())", True),
        ("nn.Sequential(nn.ReLU(), nn.Linear(3, 3))", False),
        ("nn.ModuleList([nn.ReLU()])", True),
        ("nn.ModuleList([nn.ReLU() for _ in range(3)])", True),
        ("nn.ModuleList()", False),
    ],
)
def test_the_table_tells_which_modules_hold_state(made: str, stateless: bool) -> None:
    module = stored(f"y = {made}", "y")
    assert isinstance(module, Module)
    assert module.stateless is stateless


def test_a_module_and_its_input_clash_when_both_places_are_seen() -> None:
    program = """
    def f(x: torch.Tensor):
        model = nn.Linear(3, 3).cuda()
        good = model(torch.ones(3, device="cuda"))
        bad = model(torch.ones(3))
        given = model(x)
    """
    assert clashes(program) == ["model(torch.ones(3))"]


def test_the_side_left_on_the_cpu_is_the_stray_one() -> None:
    program = """
    def f(x: torch.Tensor):
        x = x.to("cuda")
        model = nn.Linear(3, 3)
        model(x)
    """
    event = events_of(DeviceMismatch, program)[0]
    assert event.callee == "module"
    assert event.offending.role == "module"
    assert event.other.role == "input"


def test_a_module_built_here_is_on_the_cpu_whatever_the_caller_gives() -> None:
    program = """
    def f(x: torch.Tensor):
        model = nn.Linear(3, 3)
        return model(x)
    """
    assert clashes(program) == ["model(x)"]


def test_a_module_built_here_may_be_moved_by_what_it_is_handed_to() -> None:
    program = """
    def f(x: torch.Tensor, trainer):
        model = nn.Linear(3, 3)
        trainer.prepare(model)
        return model(x)
    """
    assert clashes(program) == []


def test_a_norm_without_affine_parameters_holds_no_state() -> None:
    program = """
    def f(x: torch.Tensor, affine: bool):
        nn.LayerNorm(3, elementwise_affine=False)(x)
        nn.LayerNorm(3, elementwise_affine=affine)(x)
        nn.InstanceNorm2d(3)(x)
        nn.InstanceNorm2d(3, affine=True)(x)
    """
    assert clashes(program) == ["nn.InstanceNorm2d(3, affine=True)(x)"]


def test_forwards_inputs_sit_with_the_modules_parameters() -> None:
    program = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 3)

        def forward(self, x, hidden=None):
            y = self.layer(x)
            z = self.layer(torch.zeros(3))
            return y
    """
    assert clashes(program) == ["self.layer(torch.zeros(3))"]
    assert device(program) == "the module's device"


def test_every_operand_of_a_recurrent_module_is_met() -> None:
    program = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn = nn.RNN(3, 3)

        def forward(self, x):
            hidden = torch.zeros(1, 1, 3)
            pair = (torch.zeros(1), torch.zeros(1))
            a, b = self.rnn(x, hidden)
            self.rnn(x, hx=hidden)
            self.rnn(x, pair)
            return a
    """
    assert clashes(program) == ["self.rnn(x, hidden)", "self.rnn(x, hx=hidden)", *["self.rnn(x, pair)"] * 2]


def test_a_loss_lets_its_input_and_target_meet() -> None:
    program = """
    def f(x: torch.Tensor):
        criterion = nn.MSELoss()
        criterion(x, torch.zeros(3))
        F.mse_loss(x, torch.zeros(3))
        nn.functional.nll_loss(x, torch.zeros(3))
    """
    assert [event.callee for event in events_of(DeviceMismatch, program)] == ["loss", "loss", "loss"]


def test_a_stateless_module_is_its_function() -> None:
    program = """
    def f(x: torch.Tensor):
        y = nn.ReLU()(x)
        z = nn.CosineSimilarity()(x, torch.ones(3))
    """
    assert device(program) == "the device of `x`"


def test_the_output_of_a_module_is_a_tensor_by_the_table() -> None:
    program = """
    def f(x: torch.Tensor, model: nn.Module):
        a = nn.Linear(3, 3).cuda()(torch.ones(3).cuda())
        b = nn.LSTM(3, 3).cuda()(x)
        c = model(x)
        d = nn.Linear(3, 3)(unknown)
        e = nn.Linear(3, 3)()
    """
    a = stored(program, "a")
    assert isinstance(a, Tensor)
    assert a.dim is Dim.NONZERO
    assert isinstance(stored(program, "b"), Opaque)
    assert [device(program, name) for name in "abc"] == ["cuda", "cuda", "the device of `model`"]
    assert device(program, "e") == "an unknown device"


def test_a_module_of_ones_own_meets_its_first_input_only() -> None:
    program = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 3)

        def forward(self, x, lengths):
            return self.layer(x)

    def f():
        net = Net().cuda()
        net(torch.ones(3))
        net(torch.ones(3).cuda(), torch.ones(3))
    """
    # The clash is told where it shows first, and inside, where its trace ends.
    assert clashes(program) == ["net(torch.ones(3))", "self.layer(x)"]


def test_data_parallel_takes_inputs_from_anywhere() -> None:
    program = """
    def f():
        net = nn.DataParallel(nn.Linear(3, 3).cuda())
        net(torch.ones(3))
    """
    assert clashes(program) == []


def test_data_parallel_wants_its_module_on_the_first_device() -> None:
    program = """
    def f(n: int):
        nn.DataParallel(nn.Linear(3, 3).to("cuda:0"), device_ids=[1, 0])
        nn.DataParallel(nn.Linear(3, 3).to("cuda:0"), device_ids=[0, 1])
        nn.DataParallel(nn.Linear(3, 3).to("cuda:0"), device_ids=[n])
        nn.DataParallel(nn.Linear(3, 3).to("cuda:0"), device_ids=[])
        nn.DataParallel(nn.Linear(3, 3).to("cuda:0"), device_ids=n)
    """
    assert clashes(program) == ['nn.DataParallel(nn.Linear(3, 3).to("cuda:0"), device_ids=[1, 0])']
    assert [event.text for event in events_of(DeviceNamed, program) if event.sink == "device_ids="] == list("1001")


def test_wrappers_hand_their_module_back() -> None:
    program = """
    def g(x):
        return x

    def f(model: nn.Module):
        a = torch.compile(nn.Linear(3, 3).cuda())
        b = torch.nn.utils.weight_norm(nn.Linear(3, 3).cuda())
        c = torch.jit.script(g)
        d = nn.DataParallel(unknown)
    """
    assert [device(program, name) for name in "ab"] == ["cuda", "cuda"]
    assert type(stored(program, "c")).__name__ == "Function"
    assert stored(program, "d") == Module(UNKNOWN, "torch.nn.DataParallel")


def test_a_parameter_is_where_its_data_is() -> None:
    program = """
    def f(x: torch.Tensor, anything):
        a = nn.Parameter(x)
        b = nn.Parameter(torch.ones(3))
        c = nn.Parameter(anything)
        d = nn.Buffer(torch.ones(3))
        e = nn.Parameter()
    """
    assert [device(program, name) for name in "abcde"] == [
        "the device of `x`", "cpu", "the device of `anything`", "cpu", "an unknown device",
    ]  # fmt: skip
    buffer = stored(program, "d")
    assert isinstance(buffer, Tensor)
    assert buffer.kind is Kind.BUFFER


def test_names_of_torch_nn_that_are_no_modules_are_none() -> None:
    assert not isinstance(stored("y = nn.init.xavier_uniform_(nn.Parameter(torch.ones(3)))", "y"), Module)


def test_items_of_a_sequential_are_its_layers() -> None:
    program = """
    def f():
        net = nn.Sequential(nn.Linear(3, 3), nn.ReLU()).cuda()
        first = net[0]
        last = net[-1]
    """
    first, last = stored(program, "first"), stored(program, "last")
    assert isinstance(first, Module)
    assert isinstance(last, Module)
    assert (first.type_name, last.type_name) == ("torch.nn.Linear", "torch.nn.ReLU")
    assert place(first) == "cuda"


def test_a_module_that_names_devices_in_its_constructor_may_be_anywhere() -> None:
    program = """
    class Net(nn.Module):
        def __init__(self, device):
            super().__init__()
            self.layer = nn.Linear(3, 3).to(device)

    class Plain(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 3)

    def f(options):
        a = Net("cuda")
        b = Plain()
        c = Net(**options)
        d = Plain(device="cuda")
        e = Plain(**options)
    """
    assert [device(program, name) for name in "abcde"] == [
        "an unknown device", "cpu", "an unknown device", "an unknown device", "cpu",
    ]  # fmt: skip


def test_whether_a_class_of_the_file_holds_state_is_read_from_its_constructor() -> None:
    program = """
    from somewhere import Base

    class Stateless(nn.Module):
        def __init__(self):
            super().__init__()
            self.act = nn.ReLU()

    class Bare(nn.Module):
        pass

    class Buffered(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("b", torch.ones(3))

    class Child(Buffered):
        pass

    class Unknown(nn.Module, Base):
        pass

    def f():
        a = Stateless()
        b = Bare()
        c = Buffered()
        d = Child()
    """
    states = {name: stored(program, name) for name in "abcd"}
    assert {name: isinstance(m, Module) and m.stateless for name, m in states.items()} == {
        "a": True, "b": True, "c": False, "d": False,
    }  # fmt: skip


def test_optimizers_and_autograd_functions_are_no_instances() -> None:
    program = """
    class Step(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

    class Optimizer(torch.optim.Optimizer):
        pass

    def f(x: torch.Tensor):
        a = Step()
        b = Optimizer()
    """
    assert stored(program, "a") == stored(program, "b") == UnknownValue()


def test_a_maker_that_is_handed_a_class_gives_a_module_whatever_it_does_with_it() -> None:
    program = """
    class Net(nn.Module):
        pass

    def build_model(model_class, path, **options):
        wrapper = options.pop("wrapper", None)
        model = model_class(**options)
        if path:
            model = wrapper(model, **options)
        return model

    def create(path, **options):
        y = build_model(Net, path, **options)
    """
    assert isinstance(stored(program, "y"), Module)
