"""What can be named to be run, and where."""

from __future__ import annotations

import pytest

from devlint.runtime import entries
from devlint.runtime.entries import Entry
from devlint.runtime.inputs import BadEntry
from devlint.runtime.placements import Placement, Wish, parse_device, parse_placements


def test_entry_survives_its_way_to_the_child() -> None:
    entry = entries.model("pkg.net:Net", "hidden=8", ["float32[2]", "int64[2]{0..3}"])
    assert Entry.from_json(entry.to_json()) == entry


@pytest.mark.parametrize("target", ["net", "net:", ":build", "net:a-b", "a..b:c"])
def test_entry_names_a_module_and_what_is_in_it(target: str) -> None:
    with pytest.raises(BadEntry, match="expected module:name"):
        entries.built(target)


def test_model_needs_inputs() -> None:
    with pytest.raises(BadEntry, match="say what it is called with"):
        entries.model("net:Net")


def test_configured_entries() -> None:
    assert entries.configured({"entry": "net:build"}, "") == Entry("entry", "net:build")
    assert entries.configured({"script": "t.py", "arguments": ["-x"]}, "") == Entry("script", "t.py", arguments=("-x",))
    model = entries.configured({"model": "net:Net", "init": "8", "inputs": ["float32[2]"]}, "")
    assert model == Entry("model", "net:Net", "8", ("float32[2]",))
    with pytest.raises(BadEntry, match=r"^here: an entry has one of"):
        entries.configured({"entry": "net:build", "script": "t.py"}, "here: ")
    with pytest.raises(BadEntry, match=r"^here: --entry net"):
        entries.configured({"entry": "net"}, "here: ")


def test_devices() -> None:
    assert parse_device("auto") == Wish("auto", 0)
    assert parse_device("cuda:3") == Wish("cuda", 3)
    assert parse_device("sim:1").device(Placement.SECOND) == "cuda:2"
    assert parse_device("sim").device(Placement.CPU) == "cpu"
    assert parse_device("sim-xpu:1") == Wish("sim", 1, "xpu")
    assert parse_device("sim-mps").device(Placement.FIRST) == "mps:0"
    for bad in ("auto:1", "gpu", "cuda:", "sim:-1", "sim-mps:1", "cuda-xpu", "sim-cuda", "auto-mps"):
        with pytest.raises(BadEntry):
            parse_device(bad)


def test_placements() -> None:
    assert parse_placements("auto") is None
    assert parse_placements("all") == tuple(Placement)
    assert parse_placements("cpu, first") == (Placement.FIRST, Placement.CPU)
    with pytest.raises(BadEntry):
        parse_placements("first,third")
