"""What `--auto` builds unasked, and why it does not build the rest."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from devlint.runtime.auto import inputs_for, recipe_for
from devlint.runtime.constructing import CannotBuild

HEAD = "from dataclasses import dataclass\nimport torch\nfrom torch import nn\n\n"


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Write files of a program and give back the class `Net` of the first."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)

    def write(files: dict[str, str]) -> Any:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(HEAD + text)
        module = next(iter(files)).removesuffix(".py").replace("/", ".")
        importlib.invalidate_caches()
        return importlib.import_module(module).Net

    yield write
    for name in set(sys.modules) - before:
        del sys.modules[name]


def net(init: str, forward: str, *, parameters: str = "", inputs: str = "x") -> str:
    return (
        f"class Net(nn.Module):\n    def __init__(self{parameters}):\n        super().__init__()\n"
        f"        {init}\n\n    def forward(self, {inputs}):\n        {forward}\n"
    )


LINEAR = net("self.lin = nn.Linear(config.width, 3)", "return self.lin(x)", parameters=", config")

BUILT = {
    "from defaults in the signature": {
        "net_a.py": net("self.lin = nn.Linear(width, 3)", "return self.lin(x)", parameters=", width=7")
    },
    "from a configuration with defaults": {
        "net_b.py": "@dataclass\nclass Config:\n    width: int = 11\n\n\n"
        + LINEAR.replace("config)", "config: Config)")
    },
    "from a configuration that its name tells": {
        "net_c.py": "@dataclass\nclass Settings:\n    width: int\n    rate: float = 0.5\n\n\n" + LINEAR
    },
    "from a call in its file": {
        "net_d.py": net("self.lin = nn.Linear(sizes[0], 3)", "return self.lin(x)", parameters=", sizes")
        + "\n\ndef main():\n    return Net([5, 6])\n"
    },
    "from a call with a configuration": {
        "net_e.py": "class Config:\n    def __init__(self, width):\n        self.width = width\n\n\n"
        + LINEAR
        + "\n\ndef main():\n    return Net(Config(width=13))\n"
    },
    "from a call in its package": {
        "pkg_f/net.py": net("self.lin = nn.Linear(sizes[0], 3)", "return self.lin(x)", parameters=", sizes"),
        "pkg_f/__init__.py": "",
        "pkg_f/train.py": "from .net import Net\n\n\ndef main():\n    return Net(sizes=(9, 1))\n",
    },
    "images of its channels": {
        "net_g.py": net("self.conv = nn.Conv2d(5, 4, 3)", "return self.conv(x).flatten(1)"),
    },
    "sizes that its file makes": {
        "net_h.py": net("self.lin = nn.Linear(6, 3)", "return self.lin(x.view(2, 2, 6))")
        + "\n\ndef check():\n    return Net()(torch.randn(2, 2, 2, 3))\n",
    },
    "ids of a table": {
        "net_i.py": net("self.table = nn.Embedding(9, 4)", "return self.table(sequence)", inputs="sequence")
    },
    "by name only": {"net_j.py": net("self.lin = nn.Linear(6, 3)", "return self.lin(x)", inputs="*, x")},
    "a list of tensors": {
        "net_k.py": net("self.lin = nn.Linear(6, 3)", "return self.lin(xs[1])", inputs="xs: list[torch.Tensor]")
    },
    "several sizes": {
        "net_w.py": net(
            "self.lin = nn.Linear(levels[0], widths[1])",
            "return self.lin(x)",
            parameters=", levels: list[int], widths: tuple[int, ...]",
        )
    },
    "what is handed on": {
        "net_x.py": net("self.inner = Inner(**kwargs)", "return self.inner(x)", parameters=", **kwargs")
        + "\n\n"
        + net("self.lin = nn.Linear(dim, classes)", "return self.lin(x)", parameters=", dim, *, classes").replace(
            "Net", "Inner"
        )
    },
    "what may be absent": {
        "net_l.py": net(
            "self.lin = nn.Linear(6, 3)",
            "return self.lin(x) if mask is None else mask.absent",
            inputs="x, mask: torch.Tensor | None",
        )
    },
}


@pytest.mark.parametrize("files", BUILT.values(), ids=BUILT.keys())
def test_what_is_built_and_called(written: Any, files: dict[str, str]) -> None:
    cls = written(files)
    model, positional, named = recipe_for(cls).build(cls)
    assert isinstance(model(*positional, **named), torch.Tensor)


def test_what_asks_for_an_accelerator_is_tried_on_a_simulated_one(written: Any) -> None:
    """What clashes there is brought together: that it clashes is for the run to tell."""
    in_forward = "return self.lin(x) + torch.rand(3).cuda() + torch.zeros(3)"
    cls = written({"net_s.py": net("self.lin = nn.Linear(6, 3)", in_forward)})
    _, (x,), _ = recipe_for(cls).build(cls)
    assert (x.shape[-1], x.device.type, torch.cuda.is_available()) == (6, "cpu", False)
    cls = written({"net_t.py": net("self.lin = nn.Linear(5, 3).cuda()", "return self.lin(x)")})
    assert recipe_for(cls).inputs[0][0].shape[-1] == 5
    cls = written({"net_u.py": net("self.lin = nn.Linear(5, 3).cuda()", "raise TypeError('never')")})
    with pytest.raises(CannotBuild, match="the first try raised TypeError: never"):
        recipe_for(cls)


FUNCTIONS = """
def sheared(center: torch.Tensor, by: "torch.Tensor | None" = None) -> torch.Tensor:
    return torch.stack([center[:, 0], center[:, 1]], -1)


def looked_up(table: torch.Tensor, ids: torch.Tensor, *, scale: float) -> torch.Tensor:
    return table[ids] * scale


def train(model, path):
    raise AssertionError("it was called")


def saved(x: torch.Tensor, path: str):
    raise AssertionError("it was called")


def never(x: torch.Tensor):
    raise TypeError("never")


def on_cuda(x: torch.Tensor):
    return x + torch.ones(4, device="cuda") + torch.zeros(4)


class Net(nn.Module):
    pass
"""


def test_functions_that_say_that_they_take_tensors(written: Any) -> None:
    module = sys.modules[written({"net_v.py": FUNCTIONS}).__module__]
    for name in ("sheared", "looked_up"):
        positional, named = inputs_for(getattr(module, name))()
        assert isinstance(getattr(module, name)(*positional, **named), torch.Tensor)
    (x,), _ = inputs_for(module.on_cuda)()
    assert (x.shape[-1], x.device.type) == (4, "cpu")
    refused = {
        "train": "no argument of it is annotated as a tensor",
        "saved": "it needs `path`",
        "never": "no arguments were found that it takes; the first try raised TypeError: never",
    }
    for name, reason in refused.items():
        with pytest.raises(CannotBuild) as error:
            inputs_for(getattr(module, name))
        assert str(error.value) == reason


REFUSED = {
    "its constructor needs `encoder`": {"net_m.py": net("self.encoder = encoder", "return x", parameters=", encoder")},
    "its constructor needs `config`, a Config: its constructor needs `path`": {
        "net_n.py": "@dataclass\nclass Config:\n    path: str\n\n\n" + LINEAR.replace("config)", "config: Config)")
    },
    "its constructor needs `config`, and Config() raises no file": {
        "net_o.py": "class Config:\n    def __init__(self):\n        raise OSError('no file')\n\n\n"
        + LINEAR.replace("config)", "config: Config)")
    },
    "Net(width=8) raises ValueError: odd": {
        "net_p.py": net("raise ValueError('odd')", "return x", parameters=", width: int")
    },
    "no inputs were found that its forward takes; the first try raised TypeError: never": {
        "net_q.py": net("pass", "raise TypeError('never')")
    },
}


@pytest.mark.parametrize(("reason", "files"), REFUSED.items())
def test_why_it_is_not_built(written: Any, reason: str, files: dict[str, str]) -> None:
    with pytest.raises(CannotBuild) as error:
        recipe_for(written(files))
    assert str(error.value) == reason


def test_a_written_call_that_fails_tells_more_than_what_cannot_be_guessed(written: Any) -> None:
    text = net("raise TypeError(path)", "return x", parameters=", width, path")
    with pytest.raises(CannotBuild) as error:
        recipe_for(written({"net_r.py": text + "\n\nNETS = lambda: Net(3, 'x')\n"}))
    assert str(error.value) == "Net(3, 'x') raises TypeError: x"
