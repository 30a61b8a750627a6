"""Class facts: what a class keeps on ``self``, and who reads it."""

from __future__ import annotations

from devlint.placement.domain.abstract_values import Container, Tensor
from devlint.placement.domain.class_facts import AttributeFact
from devlint.placement.domain.events import ClassCompleted
from devlint.placement.domain.provenance import StepKind
from tests.placement.walked import clashes, device, events_of


def facts(program: str, name: str = "Net") -> dict[str, AttributeFact]:
    walked = [event for event in events_of(ClassCompleted, program) if event.facts.info.name == name]
    assert len(walked) == 1
    return walked[0].facts.attributes


KINDS = """
class Net(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.register_parameter("bias", nn.Parameter(torch.ones(3)))
        self.register_buffer("mean", torch.ones(3))
        self.layer = nn.Linear(3, 3)
        self.add_module("head", nn.Linear(3, 3))
        self.table = torch.ones(3)
        self.layers = [nn.Linear(3, 3)]
        self.device = device
        self.size = 3

    def forward(self, x):
        return self.layer(x) + self.table

    def extra(self):
        return self.table
"""


def test_attributes_have_kinds() -> None:
    assert {name: fact.kind for name, fact in facts(KINDS).items()} == {
        "weight": "parameter",
        "bias": "parameter",
        "mean": "buffer",
        "layer": "module",
        "head": "module",
        "table": "tensor",
        "layers": "container",
        "device": "device",
        "size": "other",
    }


def test_facts_tell_which_methods_read_an_attribute() -> None:
    found = facts(KINDS)
    assert found["table"].loaded_in == {"forward", "extra"}
    assert found["layer"].loaded_in == {"forward"}
    assert found["weight"].loaded_in == frozenset()


def test_the_way_of_a_plain_tensor_leads_through_the_store() -> None:
    table = facts(KINDS)["table"].value
    assert isinstance(table, Tensor)
    assert table.provenance is not None
    assert [step.kind for step in table.provenance] == [StepKind.STORED, StepKind.MADE]
    assert table.provenance.step.name == "self.table"


def test_the_way_of_what_a_plain_list_holds_leads_through_the_store() -> None:
    program = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = [nn.Linear(3, 3)]
            self.nested = [[torch.ones(3)]]
            self.names = ["a"]
            self.many = [nn.Linear(3, 3) for _ in range(3)]
    """
    found = facts(program)
    for name in ("layers", "many"):
        container = found[name].value
        assert isinstance(container, Container)
        held = container.items[0] if container.items else container.rest
        assert held is not None
        assert held.provenance.step.kind is StepKind.STORED  # type: ignore[union-attr]


def test_a_class_that_is_no_module_keeps_its_tensors_as_they_are() -> None:
    program = """
    class Net:
        def __init__(self):
            self.table = torch.ones(3)
    """
    table = facts(program)["table"].value
    assert isinstance(table, Tensor)
    assert table.provenance is not None
    assert table.provenance.step.kind is StepKind.MADE


def test_the_last_value_in_the_constructor_counts() -> None:
    program = """
    class Net(nn.Module):
        def __init__(self, big: bool):
            super().__init__()
            self.table = torch.ones(3)
            if big:
                self.table = self.table.cuda()
            if not big:
                self.only = torch.ones(3)
                return
            self.late = torch.ones(3)

        def forward(self, x):
            y = self.table
    """
    assert device(program) == "an unknown device"
    assert set(facts(program)) == {"table", "only", "late"}


def test_an_attribute_handed_to_something_that_registers_it_is_registered() -> None:
    program = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = [nn.Linear(3, 3)]
            self.parts = [nn.Linear(3, 3)]
            self.left = [nn.Linear(3, 3)]
            self.all = nn.ModuleList(self.blocks)
            for index, part in enumerate(self.parts):
                self.add_module(str(index), part)
    """
    found = facts(program)
    assert found["blocks"].registered
    assert found["parts"].registered


def test_an_attribute_that_nothing_registers_is_not() -> None:
    program = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = [nn.Linear(3, 3)]
            for block in self.blocks:
                block.eval()
    """
    assert not facts(program)["blocks"].registered


def test_registering_under_computed_names_may_register_anything() -> None:
    program = """
    class Net(nn.Module):
        def __init__(self, names):
            super().__init__()
            self.table = torch.ones(3)
            self.layer = nn.Linear(3, 3)
            for name in names:
                self.register_buffer(name, torch.ones(3))
    """
    found = facts(program)
    assert found["table"].registered
    assert not found["layer"].registered


def test_attributes_of_a_base_in_the_same_file_are_inherited() -> None:
    program = """
    class Base(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.ones(3)
            self.other = torch.ones(3)

    class Net(Base):
        def __init__(self):
            super().__init__()
            self.other = nn.Parameter(torch.ones(3))

        def forward(self, x):
            return x + self.table + self.other
    """
    assert {name: fact.kind for name, fact in facts(program).items()} == {"table": "tensor", "other": "parameter"}
    assert clashes(program) == ["x + self.table"]


def test_methods_of_a_base_in_the_same_file_are_found() -> None:
    program = """
    class Base(nn.Module):
        def make(self):
            return torch.ones(3)

        def beside(self, x):
            return torch.ones(3, device=x.device)

    class Net(Base):
        def forward(self, x):
            return x + self.make(), x + super().make(), x + self.beside(x)
    """
    assert clashes(program) == ["x + self.make()", "x + super().make()"]


def test_an_overridden_method_hides_that_of_the_base() -> None:
    program = """
    class Base(nn.Module):
        def make(self, x):
            return torch.ones(3)

    class Net(Base):
        def make(self, x):
            return torch.ones(3, device=x.device)

        def forward(self, x):
            return x + self.make(x)
    """
    assert clashes(program) == []


def test_super_without_a_base_in_the_file_is_unknown() -> None:
    program = """
    class Net(nn.Module):
        def forward(self, x):
            return x + super().forward(x)
    """
    assert clashes(program) == []


def test_a_class_that_makes_itself_ends() -> None:
    program = """
    class Tree(nn.Module):
        def __init__(self, depth):
            super().__init__()
            self.table = torch.ones(3)
            self.child = Tree(depth - 1) if depth else None

        def forward(self, x):
            return self.child(x) + self.table
    """
    assert {name: fact.kind for name, fact in facts(program, "Tree").items()}["child"] == "module"


def test_attributes_stored_outside_the_constructor_are_no_facts() -> None:
    program = """
    class Net(nn.Module):
        def build(self):
            self.table = torch.ones(3)
    """
    assert facts(program) == {}


def test_stores_count_the_constructor_and_the_other_methods() -> None:
    program = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.once = torch.ones(3)
            self.twice = torch.ones(3)

        def move(me, x):
            me.twice, me.other = x, x
            me.more: int = 3
            me.more += 1

        @staticmethod
        def elsewhere(self):
            self.once = 3
    """
    found = facts(program)
    assert (found["once"].stores, found["twice"].stores) == (1, 2)


def test_a_constructor_without_parameters_is_walked() -> None:
    program = """
    class Net:
        def __init__():
            pass
    """
    assert facts(program) == {}
