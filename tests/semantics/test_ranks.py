"""The table of ranks: what it says of torch is so, and what gives the index on one machine is not in it."""

from __future__ import annotations

import inspect

import pytest
import torch.distributed as dist

from devlint.semantics.ranks import is_rank_attribute, is_rank_variable, rank_call


def test_the_rank_of_torch_takes_the_group_it_is_said_to_take() -> None:
    known = rank_call("torch.distributed.get_rank")
    assert known is not None
    assert list(inspect.signature(dist.get_rank).parameters) == [known.group]
    assert rank_call("torch.distributed.distributed_c10d.get_rank") == known


def test_a_row_is_read_in_its_own_way_alone() -> None:
    assert is_rank_variable("RANK")
    assert is_rank_attribute("accelerate.Accelerator.process_index")
    assert not is_rank_attribute("RANK")
    assert not is_rank_variable("torch.distributed.get_rank")


@pytest.mark.parametrize("name", ["LOCAL_RANK", "SLURM_LOCALID", "GROUP_RANK", "horovod.torch.local_rank"])
def test_a_rank_on_one_machine_is_none_of_all(name: str) -> None:
    assert not is_rank_variable(name)
    assert rank_call(name) is None
