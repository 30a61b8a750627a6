"""Named types, annotations that contradict one another, and the modules of libraries."""

from __future__ import annotations

import pytest
from typed.annotation import Kind
from typed.places import typed

TYPES = """
from typing import TypeAlias, TypeVar, Union
import typing
import numpy as np
from torch import Tensor

Array = Union[np.ndarray, Tensor]
Row: TypeAlias = Tensor
Pairs: typing.TypeAlias = dict[str, Tensor]
T = TypeVar("T")
Held = TypeVar("Held", bound=Tensor)
Either = TypeVar("Either", Tensor, float)
"""


def test_a_named_type_is_read_in_the_files_that_import_it() -> None:
    user = """
from types_of import Array, Either, Held, Pairs, Row, T, Two
def f(a: Array, row: Row, pairs: Pairs, some: T, held: Held, either: Either, two: Two, other: Elsewhere): ...
"""
    files = {"types_of.py": TYPES + "Two = list[int]\n", "more.py": "Two = list[Tensor]\nElsewhere = list[Tensor]\n"}
    told = {place.name: kind for place, kind in typed(files | {"user.py": user}).truth.items()}
    assert told == {
        "a": "mixed",
        "row": "tensor",
        "pairs": "tensors",
        "some": "mixed",
        "held": "tensor",
        "either": "mixed",
        "two": "mixed",
        "other": "other",
    }


METRICS = """
class Metric:
    def mean(self, rates: Tensor) -> Tensor: ...
    def both(self, rates: dict[str, Tensor]) -> Tensor: ...

class Loss(Metric):
    def handed(self, rates: dict[str, Tensor]) -> Tensor:
        rates = self.mean(rates)
        return self.both(rates)

    def mean(self, rates: dict[str, Tensor]) -> Tensor:
        return super().mean(rates).exp()

    def again(self, rates: dict[str, Tensor]) -> Tensor:
        return self.mean(rates)

    def alike(self, rates: dict[str, Tensor]) -> Tensor:
        return self.both(rates)

    def bound(self, rates: dict[str, Tensor]) -> Tensor:
        rates = rates["all"]
        return super().mean(rates)

    def asked(self, rates: dict[str, Tensor]) -> Tensor:
        if isinstance(rates, Tensor):
            return super().mean(rates)
        return rates["all"]
"""


def test_annotations_that_contradict_one_another_do_not_tell() -> None:
    truth = typed({"metrics.py": METRICS}).truth
    told = {place.qualname: kind for place, kind in truth.items() if place.name == "rates"}
    assert told == {
        "Metric.mean": "tensor",
        "Metric.both": "tensors",
        "Loss.handed": "mixed",
        "Loss.mean": "mixed",
        "Loss.again": "mixed",
        "Loss.alike": "tensors",
        "Loss.bound": "tensors",
        "Loss.asked": "tensors",
    }


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from torchmetrics import Metric\ndef f(m: Metric): ...\n", "module"),
        ("from torchmetrics import Metric as Base\nclass Metric(Base): ...\ndef f(m: Metric): ...\n", "module"),
        ("from torchmetrics import Metric as Base\nclass Metric: ...\ndef f(m: Metric): ...\n", "other"),
        ("from elsewhere import Metric\ndef f(m: Metric): ...\n", "mixed"),
        ("from elsewhere.losses import PPOLoss\ndef f(m: PPOLoss): ...\n", "mixed"),
        ("from PIL.Image import Image\ndef f(m: Image): ...\n", "other"),
        ("from logging import Logger\ndef f(m: Logger): ...\n", "other"),
        ("from elsewhere import Float\nfrom torch import Tensor\ndef f(m: Float[Tensor, 'b']): ...\n", "tensor"),
        ("from torch import fx\ndef f(m: fx.GraphModule): ...\n", "module"),
    ],
)
def test_modules_of_libraries_are_known(source: str, expected: Kind) -> None:
    assert list(typed({"net.py": source}).truth.values()) == [expected]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        # Another class under the name of one of torch's, and one of the release's.
        ("class Threshold: ...\ndef f(m: Threshold): ...\n", "other"),
        ("class Threshold: ...\nfrom torch import nn\ndef f(m: nn.Threshold): ...\n", "module"),
        ("from torch import nn\nclass Net(nn.Threshold): ...\nclass Threshold: ...\ndef f(m: Net): ...\n", "module"),
        ("from elsewhere import Transformer\ndef f(m: Transformer): ...\n", "mixed"),
        ("import mlx.nn as nn\nclass Net(nn.Module): ...\ndef f(m: Net): ...\n", "other"),
        ("from torch.nn import Transformer\ndef f(m: Transformer): ...\n", "module"),
        ("from pytorch_lightning import LightningModule as L\nclass Net(L): ...\ndef f(m: Net): ...\n", "module"),
        ("import lightning as L\nclass Net(L.LightningModule): ...\ndef f(m: Net): ...\n", "module"),
    ],
)
def test_a_name_means_what_its_file_imports(source: str, expected: Kind) -> None:
    assert list(typed({"net.py": source}).truth.values()) == [expected]


def test_a_class_of_the_release_is_told_from_one_that_is_imported() -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/layers.py": "from torch import nn\nclass DF(nn.Module): ...\n",
        "pkg/a.py": "from pkg.layers import DF\ndef f(m: DF): ...\n",
        "pkg/b.py": "from libdf import DF\ndef f(m: DF): ...\n",
    }
    assert [kind for place, kind in typed(files).truth.items()] == ["module", "mixed"]


def test_classes_that_stand_for_tensors_are_tensors() -> None:
    shapes = (
        "from torchtyping import TensorType\nfrom torch import Tensor\n"
        "class DataTensor(TensorType['batch']): ...\n"
        "class Spatial:\n    def __class_getitem__(cls, shape):\n        return Alias(Tensor, shape)\n"
        "class Loader:\n    def __class_getitem__(cls, item):\n        return cls\n"
    )
    use = "from shapes import *\ndef f(a: DataTensor, b: Spatial['H W'], c: Loader[int]): ...\n"
    named = use.replace("*", "DataTensor, Spatial, Loader")
    expected = ["tensor", "tensor", "other"]
    for text in (use, named):
        truth = typed({"shapes.py": shapes, "a.py": text}).truth
        assert [kind for place, kind in truth.items() if place.path == "a.py"] == expected


def test_a_tensor_of_the_release_is_one_by_its_module_too() -> None:
    files = {
        "release/__init__.py": "",
        "release/kinds.py": "import torch\nclass Mask(torch.Tensor): ...\nclass Spec: ...\n",
        "release/uses.py": (
            "from release import kinds\nfrom elsewhere import others\n"
            "def f(a: kinds.Mask, b: kinds.Spec, c: others.Mask): ...\n"
        ),
    }
    assert list(typed(files).truth.values()) == ["tensor", "other", "other"]
