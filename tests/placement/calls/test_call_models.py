"""Functions outside the file: builtins, numpy, torch functions that are no operations."""

from __future__ import annotations

import pytest

from devlint.placement.domain.abstract_values import Container, Host, Tensor, UnknownValue
from devlint.placement.domain.events import HostRead
from tests.placement.walked import clashes, device, events_of, stored


def test_a_local_function_shadows_a_builtin() -> None:
    program = """
    def sum(x):
        return torch.ones(3)

    def f(x: torch.Tensor):
        y = sum([x])
    """
    assert device(program) == "cpu"


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
        np.median(x)
        np.zeros(3).dot(x)
        x.numpy()
    """
    reads = [(event.reader, event.wants_cpu) for event in events_of(HostRead, program)]
    assert reads == [("numpy.median", True), (".dot", True), (".numpy()", True)]


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
    assert [device(program, name) for name in "bc"] == ["an unknown device"] * 2


def test_probes_of_backends_answer_about_devices() -> None:
    value = stored("y = torch.backends.mps.is_available()", "y")
    assert getattr(value, "about_device", False)
