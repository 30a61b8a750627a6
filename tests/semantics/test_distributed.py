"""Collectives and the backends that carry them; calls about the current device."""

from __future__ import annotations

import pytest

from devlint.semantics.collective import carries_cpu_tensors, collective
from devlint.semantics.current_device import on_current_device


def test_all_reduce_sends_its_first_argument() -> None:
    found = collective("torch.distributed.all_reduce")
    assert found is not None
    assert found.tensors == (("tensor", 0),)
    assert found.group == 2


def test_a_repeated_row_is_the_row_it_names() -> None:
    found = collective("torch.distributed.nn.all_reduce")
    assert found is not None
    assert found.tensors == (("tensor", 0),)


def test_collectives_of_objects_are_none() -> None:
    assert collective("torch.distributed.all_gather_object") is None


@pytest.mark.parametrize("backend", ["gloo", "GLOO", "mpi", "cpu:gloo,cuda:nccl", None])
def test_backends_that_carry_cpu_tensors(backend: str | None) -> None:
    assert carries_cpu_tensors(backend)


def test_nccl_carries_none() -> None:
    assert not carries_cpu_tensors("nccl")


def test_a_new_stream_is_on_the_current_device() -> None:
    found = on_current_device("torch.cuda.Stream")
    assert found is not None
    assert found.makes_stream


def test_an_event_takes_no_device() -> None:
    assert on_current_device("torch.cuda.Event") is None
