"""The tables of example scripts and of lifted suites, and what is counted of a run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import example_scripts
import lifted_suites
import pytest
from example_scripts import Ran, Script, row_of, scripts, set_up


def test_the_tables_are_read_and_name_each_once() -> None:
    names = [script.name for script in scripts()]
    assert len(names) >= 20
    assert len(set(names)) == len(names)
    packages = [suite.package for suite in lifted_suites.suites()]
    assert len(packages) >= 12
    assert len(set(packages)) == len(packages)
    assert all(len(suite.version) == 40 for suite in lifted_suites.suites() if suite.repo)


def test_a_line_that_is_no_script_is_named(tmp_path: Path) -> None:
    file = tmp_path / "scripts.jsonl"
    file.write_text('{"name": "a", "repo": "b/c", "commit": "1", "path": "a.py"}\n{"name": "b"}\n', "utf-8")
    with pytest.raises(ValueError, match=r"scripts\.jsonl:2: not a script"):
        scripts(file)


def test_constants_are_set_and_words_are_made(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("STEPS = 1000\nWIDTH = 1000\n", "utf-8")
    script = Script("a", "b/c", "1", "train.py", edits={"STEPS = 1000": "STEPS = 2"}, words="data")
    set_up(script, tmp_path)
    assert (tmp_path / "train.py").read_text("utf-8") == "STEPS = 2\nWIDTH = 1000\n"
    assert len((tmp_path / "data" / "valid.txt").read_text("utf-8").split()) == 800
    with pytest.raises(ValueError, match="a: 'STEPS = 1000' is there 0 times"):
        set_up(script, tmp_path)


def finding(line: int) -> dict[str, Any]:
    return {"path": "train.py", "line": line}


def test_what_is_explained_is_not_false() -> None:
    script = Script("a", "b/c", "1", "train.py")
    known = {("a", "train.py", 3): "It is so."}
    ran = Ran(("cuda:0 ran", "cuda:1 ran"), 12.3, (finding(3), finding(4)))
    assert row_of(script, ran, known) == ["a", "b/c", "cuda:0 and cuda:1", "12", "2", "1", "1"]
    failed = Ran(("cuda:0 ran", "cuda:1 failed"), 12.3, (), "KeyError: 'x'")
    assert row_of(script, failed, known)[2] == "KeyError: 'x'"


@pytest.fixture
def faked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The stand-in for torchvision; other tests ask whether the real one is installed."""
    monkeypatch.syspath_prepend(str(example_scripts.HERE / "faked"))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
        del sys.modules[name]


@pytest.mark.usefixtures("faked")
def test_pictures_are_faked_as_loaders_take_them() -> None:
    from torchvision import datasets, transforms  # type: ignore[import-not-found, unused-ignore]
    from torchvision.ops import box_iou  # type: ignore[import-not-found, unused-ignore]

    rows = datasets.MNIST("", transform=transforms.Compose([transforms.ToTensor(), transforms.Resize(8)]))
    picture, target = rows[11]
    assert (picture.shape, target) == ((1, 8, 8), 1)
    assert datasets.CIFAR10("", transform=transforms.ToTensor())[0][0].shape == (3, 32, 32)
    import torch

    boxes = torch.tensor([[0.0, 0.0, 2.0, 2.0], [1.0, 1.0, 3.0, 3.0]])
    assert torch.allclose(box_iou(boxes, boxes), torch.tensor([[1.0, 1 / 7], [1 / 7, 1.0]]))
