"""Calls: what is called, and what comes back."""

from __future__ import annotations

import pytest

from devlint.placement.events import Called, Created, HostRead
from devlint.placement.values import Container, Host, Module, Opaque, Reference, Tensor, UnknownValue
from tests.placement.walked import clashes, device, events_of, place, stored


def test_library_calls_are_told_under_their_qualified_names() -> None:
    program = """
    from torch import zeros as nothing
    import torch.nn.functional

    def f(x: torch.Tensor):
        nothing(3)
        F.relu(x)
        torch.nn.functional.relu(x)
        x.relu()
        print(x)
    """
    names = [event.name for event in events_of(Called, program)]
    assert names == ["torch.zeros", "torch.nn.functional.relu", "torch.nn.functional.relu", ".relu", "print"]


@pytest.mark.parametrize(
    ("imports", "call"),
    [
        ("import torch as t", "t.ones(3)"),
        ("from torch import ones", "ones(3)"),
        ("from torch import ones as o", "o(3)"),
        ("import torch", "torch.ones(3)"),
    ],
)
def test_aliases_of_imports_are_seen_through(imports: str, call: str) -> None:
    program = f"def f(x):\n    return x.exp() + {call}\n"
    assert clashes(program, imports + "\n") == [f"x.exp() + {call}"]


def test_a_local_function_shadows_a_builtin() -> None:
    program = """
    def sum(x):
        return torch.ones(3)

    def f(x: torch.Tensor):
        y = sum([x])
    """
    assert device(program) == "cpu"


def test_a_parameter_shadows_an_import() -> None:
    program = """
    def f(x: torch.Tensor, torch):
        y = torch.ones(3)
    """
    assert device(program) != "cpu"


def test_a_callable_argument_works_where_its_arguments_are() -> None:
    program = """
    def f(x: torch.Tensor, model, other: torch.Tensor):
        y = model(x)
        z = model(x, other)
    """
    assert device(program, "y") == "the device of `x`"
    assert stored(program, "z") == UnknownValue()


def test_a_result_of_something_unknown_is_unknown() -> None:
    assert stored("def f(x: torch.Tensor):\n    y = unknown(x)\n", "y") == UnknownValue()


def test_star_arguments_may_hold_any_tensor() -> None:
    program = """
    def f(x: torch.Tensor, parts):
        torch.add(x, *parts)
        torch.cat((x, *[torch.ones(3)]))
        torch.add(**parts)
    """
    assert clashes(program) == ["torch.cat((x, *[torch.ones(3)]))"]


def test_keywords_bind_like_positions() -> None:
    program = """
    def f(x: torch.Tensor):
        torch.add(input=x, other=torch.ones(3))
        torch.add(other=torch.ones(3), input=x)
        torch.matmul(x, other=torch.ones(3))
    """
    assert len(clashes(program)) == 3


def test_tensors_given_one_by_one_stand_in_a_list_of_tensors() -> None:
    program = """
    def f(x: torch.Tensor):
        torch.cat([x, torch.ones(3)])
        torch.broadcast_tensors(x, torch.ones(3))
        torch.einsum("i,i->", x, torch.ones(3))
        torch.einsum("i,i->", *[x, torch.ones(3)])
    """
    assert len([clash for clash in clashes(program) if "cat" in clash or "einsum" in clash]) == 3


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ("len(x)", Host),
        ("range(3)", Container),
        ("str(x)", Host),
        ("isinstance(x, int)", object),
        ("list(x)", Container),
        ("tuple([x])", Container),
        ("sorted([x])", Container),
        ("dict(a=x)", Container),
        ("np.zeros(3)", Host),
        ("math.sqrt(2)", Host),
        ("getattr(x, name)", UnknownValue),
        ("super()", UnknownValue),
        ("next()", UnknownValue),
        ("enumerate()", UnknownValue),
        ("list()", Container),
        ("round(2.5)", Host),
    ],
)
def test_builtins_are_known(call: str, kind: type) -> None:
    program = f"import math\ndef f(x: torch.Tensor, name):\n    y = {call}\n"
    assert isinstance(stored(program, "y"), kind)


def test_builtins_that_hand_on_their_argument() -> None:
    program = """
    import copy
    from tqdm import tqdm

    def f(x: torch.Tensor):
        a = copy.deepcopy(x)
        b = next(iter([x]))
        c = sum([x, x])
        d = list([torch.ones(3)])[0]
        e = dict(k=torch.ones(3))["k"]
        for g in tqdm([torch.ones(3)]):
            h = g
        i = next(reversed([x]))
        j = next(iter({"k": x}))
    """
    assert [device(program, name) for name in "abci"] == ["the device of `x`"] * 4
    assert [device(program, name) for name in "deh"] == ["cpu"] * 3
    assert stored(program, "j") == Host()


def test_keyword_unpacking_may_hold_any_key() -> None:
    program = """
    def f(more):
        y = dict(a=torch.ones(3), **more)
        z = y["b"]
    """
    assert stored(program, "z") == UnknownValue()


def test_einops_hands_on_its_tensor() -> None:
    program = """
    from einops import rearrange, repeat, pack
    def f(x: torch.Tensor):
        a = rearrange(x, "b c -> c b")
        b = repeat([x], "b -> b c")
        c = rearrange(3, "a")
        d = pack([x], "*")
    """
    assert [device(program, name) for name in "ab"] == ["the device of `x`"] * 2
    assert stored(program, "c") == UnknownValue()


def test_numpy_reads_its_tensors_on_the_host() -> None:
    program = """
    def f(x: torch.Tensor):
        np.mean(x)
        np.zeros(3).dot(x)
        x.numpy()
    """
    reads = [(event.reader, event.wants_cpu) for event in events_of(HostRead, program)]
    assert reads == [("numpy.mean", True), (".dot", True), (".numpy()", True)]


def test_printing_and_converting_read_on_the_host_and_take_any_device() -> None:
    program = """
    def f(x: torch.Tensor):
        print(x)
        float(x)
        bool(x)
        x.item()
        x.tolist()
        torch.equal(x, x)
    """
    reads = events_of(HostRead, program)
    assert [event.reader for event in reads] == [
        "print()", "float()", "bool()", ".item()", ".tolist()", "torch.equal",
    ]  # fmt: skip
    assert not any(event.wants_cpu for event in reads)


def test_checkpoint_is_the_call_of_its_function() -> None:
    program = """
    from torch.utils.checkpoint import checkpoint

    def block(x):
        return x.exp()

    def f(x: torch.Tensor):
        y = checkpoint(block, x, use_reentrant=False)
        z = checkpoint(block)
    """
    assert device(program) == "the device of `x`"
    assert stored(program, "z") == UnknownValue()


def test_packing_a_sequence_gives_a_packed_sequence() -> None:
    program = """
    from torch.nn.utils.rnn import pack_padded_sequence

    def f(x: torch.Tensor, lengths: torch.Tensor):
        y = pack_padded_sequence(x, lengths.cpu())
        z = pack_padded_sequence(x, torch.ones(3, device="cuda"))
    """
    packed = stored(program, "y")
    assert isinstance(packed, Tensor)
    assert packed.kind.value == "packed"
    assert clashes(program) == ['pack_padded_sequence(x, torch.ones(3, device="cuda"))']


def test_load_puts_everything_where_it_is_told() -> None:
    program = """
    def f(path):
        a = torch.load(path, map_location="cpu")
        b = torch.load(path)
        c = torch.load(path, map_location=None)
        d = a["weights"]
    """
    assert [device(program, name) for name in "ad"] == ["cpu", "cpu"]
    assert stored(program, "b") == stored(program, "c") == UnknownValue()


def test_a_containers_methods_follow_its_items() -> None:
    program = """
    def f(x: torch.Tensor):
        parts = []
        parts.append(torch.ones(3))
        a = parts[0]
        parts.extend([x])
        b = parts[0]
        named = {"k": torch.ones(3)}
        c = named.get("k")
        for key, value in named.items():
            d = value
        for value in named.values():
            e = value
        named.update(x=x)
        g = named["k"]
        h = parts.pop()
        i = named.copy()
        j = named.keys()
        parts.sort()
        k = parts.unknown()
    """
    assert [device(program, name) for name in "acde"] == ["cpu"] * 4
    assert device(program, "b") == "an unknown device"
    assert stored(program, "g") == UnknownValue()
    assert isinstance(stored(program, "i"), Container)
    assert stored(program, "j") == Host()
    assert stored(program, "k") == UnknownValue()


def test_appending_builds_the_list_that_is_concatenated() -> None:
    program = """
    def f(x: torch.Tensor, n: int):
        parts = []
        for _ in range(n):
            parts.append(torch.ones(3))
        parts.append(x)
        return torch.cat(parts)

    def g(x: torch.Tensor, n: int):
        parts = [torch.ones(3)]
        return torch.cat([x] + parts)
    """
    assert clashes(program) == ["torch.cat([x] + parts)"]


def test_methods_of_an_argument_of_unknown_type_stay_with_it() -> None:
    program = """
    def f(batch, model):
        for batch in batch:
            a = batch.get("x")
            for key, value in batch.items():
                b = value
            c = batch.keys()
            d = batch.clone()
            e = batch.anything()
        for p in model.parameters():
            g = p
    """
    assert [device(program, name) for name in "abde"] == ["the device `batch` came on"] * 4
    assert stored(program, "c") == Host()


def test_methods_that_only_tensors_have_make_one() -> None:
    program = """
    def f(model, batch):
        for item in batch:
            y = item.view(3)
            z = item.x.unsqueeze(0)
    """
    assert isinstance(stored(program, "z"), Tensor)


def test_methods_of_modules() -> None:
    program = """
    def f(model: nn.Module, x: torch.Tensor):
        a = model.eval()
        for p in model.parameters():
            b = p
        for name, p in model.named_parameters():
            c = p
        for m in model.children():
            d = m
        e = model.state_dict()
        g = model.forward(x)
        h = model.encode(x)
    """
    assert [type(stored(program, name)) for name in "abcdegh"] == [
        Module, Tensor, Tensor, Module, Opaque, Opaque, Opaque,
    ]  # fmt: skip
    assert {device(program, name) for name in "abcdegh"} == {"the device of `model`"}


def test_methods_of_what_is_unknown() -> None:
    program = """
    def f():
        a = unknown().numpy()
        b = unknown().tolist()
        c = "word".upper()
        d = unknown().other()
    """
    assert stored(program, "a") == Host(numpy=True)
    assert stored(program, "b") == Host(number=True)
    assert stored(program, "c") == Host()
    assert stored(program, "d") == UnknownValue()


def test_sizes_of_a_tensor_are_plain_values() -> None:
    program = """
    def f(x: torch.Tensor):
        y = torch.ones(x.size(0), x.dim(), device=x.device)
        z = x.get_device()
        a = x.data_ptr()
        b = x.no_such_method()
    """
    assert stored(program, "z") == Host(number=True)
    assert stored(program, "a") == stored(program, "b") == UnknownValue()


def test_methods_in_place_give_back_their_tensor() -> None:
    program = """
    def f(x: torch.Tensor):
        y = x.add_(1)
        w = nn.Parameter(torch.ones(3))
        z = w.requires_grad_()
    """
    assert device(program) == "the device of `x`"


def test_functions_and_classes_called_through_names_of_other_files() -> None:
    program = """
    from .layers import Layer
    y = Layer
    """
    assert stored(program, "y") == Reference(".layers.Layer")


def test_calling_a_call_evaluates_both() -> None:
    program = """
    def f():
        unknown(torch.ones(1))(torch.ones(2))
        [torch.ones(3)][0](torch.ones(4))
    """
    assert len(events_of(Created, program)) == 4


def test_probes_of_backends_answer_about_devices() -> None:
    value = stored("y = torch.backends.mps.is_available()", "y")
    assert getattr(value, "about_device", False)


def test_streams_and_instances_have_no_place_of_their_own() -> None:
    program = """
    class Box:
        def __init__(self):
            self.w = torch.ones(3)

        def get(self):
            return torch.ones(3)

    def f():
        box = Box()
        y = box.get()
        z = box.missing()
        g = box.w
    """
    assert device(program) == "cpu"
    assert stored(program, "z") == UnknownValue()
    assert place(stored(program, "box")) == "an unknown device"
