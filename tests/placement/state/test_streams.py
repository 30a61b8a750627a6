"""Side streams, copies in flight, and what waits for them."""

from __future__ import annotations

import pytest

from devlint.placement.domain.events import HostRead, StreamCrossed
from devlint.placement.syntax.nodes import code_of
from tests.placement.walked import events_of


def crossings(body: str) -> list[str]:
    program = "def f(x: torch.Tensor):\n    side = torch.cuda.Stream()\n"
    program += "".join(f"    {line}\n" for line in body.strip("\n").split("\n"))
    return [code_of(event.node) for event in events_of(StreamCrossed, program)]


def test_a_tensor_of_another_stream_must_be_waited_for() -> None:
    assert crossings("""
w = torch.ones(3, device="cuda")
with torch.cuda.stream(side):
    y = w + 1
z = y + 1
""") == ["w", "y"]


@pytest.mark.parametrize(
    "wait",
    [
        "side.wait_stream(torch.cuda.current_stream())",
        "side.wait_stream(torch.cuda.default_stream())",
        "torch.cuda.synchronize()",
        "torch.cuda.current_stream().synchronize()",
        "event = torch.cuda.Event(); event.record(); side.wait_event(event)",
    ],
)
def test_what_orders_the_streams_makes_the_use_right(wait: str) -> None:
    assert (
        crossings(f"""
w = torch.ones(3, device="cuda")
{wait}
with torch.cuda.stream(side):
    w + 1
""")
        == []
    )


def test_waiting_orders_only_what_was_computed_before() -> None:
    assert crossings("""
side.wait_stream(torch.cuda.current_stream())
w = torch.ones(3, device="cuda")
with torch.cuda.stream(side):
    w + 1
""") == ["w"]


def test_waiting_the_other_way_orders_nothing_here() -> None:
    assert crossings("""
w = torch.ones(3, device="cuda")
torch.cuda.current_stream().wait_stream(side)
with torch.cuda.stream(side):
    w + 1
""") == ["w"]


def test_the_way_back_is_waited_for_too() -> None:
    assert (
        crossings("""
with torch.cuda.stream(side):
    w = torch.ones(3, device="cuda")
torch.cuda.current_stream().wait_stream(side)
w + 1
""")
        == []
    )


def test_a_tensor_from_outside_may_be_ordered_there() -> None:
    assert (
        crossings("""
with torch.cuda.stream(side):
    x + 1
""")
        == []
    )


def test_a_wait_in_one_arm_only_is_none() -> None:
    assert crossings("""
w = torch.ones(3, device="cuda")
if x.any():
    side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    w + 1
""") == ["w"]


def test_a_context_of_something_unknown_changes_no_stream() -> None:
    assert (
        crossings("""
w = torch.ones(3, device="cuda")
with torch.cuda.stream(unknown()):
    w + 1
with torch.cuda.stream():
    w + 1
with torch.cuda.StreamContext(torch.cuda.current_stream()):
    w + 1
""")
        == []
    )


def test_streams_of_a_device_and_their_other_methods() -> None:
    assert crossings("""
other = torch.cuda.Stream(device="cuda:1")
w = torch.ones(3, device="cuda")
side.wait_stream(unknown())
other.record_event()
with torch.cuda.stream(other):
    w + 1
""") == ["w"]


def in_flight(body: str) -> list[bool]:
    program = "def f(x: torch.Tensor, other: torch.Tensor):\n    x = x.cuda()\n"
    program += "".join(f"    {line}\n" for line in body.strip("\n").split("\n"))
    return [event.in_flight for event in events_of(HostRead, program)]


def test_a_copy_that_does_not_block_is_in_flight_until_something_waits() -> None:
    assert in_flight("""
host = x.to("cpu", non_blocking=True)
host.sum()
""") == [True]


def test_an_array_of_the_same_memory_is_no_read_but_its_use_is() -> None:
    assert in_flight("""
host = x.to("cpu", non_blocking=True)
array = host.numpy()
print(array)
""") == [False, True]


@pytest.mark.parametrize(
    "wait",
    ["torch.cuda.synchronize()", "torch.cuda.current_stream().synchronize()", "other.item()", "x.cpu()", "print(x)"],
)
def test_what_waits_lands_the_copy(wait: str) -> None:
    assert not in_flight(f"""
host = x.to("cpu", non_blocking=True)
{wait}
host.sum()
""")[-1]


@pytest.mark.parametrize("copy", ["x.cpu()", 'x.to("cpu")', 'x.to("cpu", non_blocking=False)'])
def test_a_copy_that_blocks_has_landed(copy: str) -> None:
    assert in_flight(f"host = {copy}\nhost.numpy()") == [False]


def test_a_copy_to_the_accelerator_is_ordered_by_its_stream() -> None:
    assert in_flight("""
there = other.to("cuda", non_blocking=True)
there.item()
""") == [False]
