"""``pytest --devlint`` with users' tensors elsewhere: ``devlint_stay`` and ``--devlint-placement``."""

from __future__ import annotations

import pytest

import devlint.confirmation.lifted
import devlint.runtime.lifting.calls  # noqa: F401
from tests.test_pytest_plugin import run

pytest_plugins = ["pytester"]

METERS = """
import numpy
import torch


class Meter:
    def __init__(self, device="cpu"):
        self._device = device
        self.total = torch.zeros(3, device=device)

    def update(self, x):
        self.total += x.sum(0){brought}


class Plate:
    def __init__(self, size):
        self.rows = torch.randperm(size)[:2]

    def of(self, x):
        return x.index_select(0, self.rows{brought})


class Weighted(torch.nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.register_buffer("weights", torch.tensor(weights))

    def forward(self, y):
        return (y * self.weights{brought}).sum(-1)


def masked(x, mask=None):
    mask = torch.ones_like(x) if mask is None else mask{brought}
    return x * mask


def back_and_forth(x):
    return x.cpu() + x


def ranked(x):
    return torch.from_numpy(numpy.argsort(x.sum(1).cpu().numpy())){there}


def precision(x):
    return torch.empty((), dtype=x.dtype{host}).numpy().dtype


def histogram(rows):
    total = torch.zeros(3)
    for batch, in rows:
        total = total{brought} + batch.sum(0)
    return total
"""

TESTS = """
import torch
from torch.utils.data import DataLoader, TensorDataset
from meters import Meter, Plate, Weighted, histogram, masked, precision, ranked

X = torch.rand(4, 3)


def sampled(x):
    return Plate(4).of(x).sum() * masked(x).mean()


def test_meter():
    meter = Meter()
    meter.update(X)
    meter.update(X)
    assert torch.allclose(meter.total, 2 * X.sum(0))


def test_plate():
    assert Plate(4).of(X).shape == (2, 3)


def test_weighted():
    assert Weighted([1.0, 2.0, 3.0])(X).shape == (4,)


def test_mask():
    assert torch.equal(masked(X, torch.ones(4, 3)), X)
    assert torch.equal(masked(X), X)


def test_ranked():
    assert ranked(X).shape == (4,)


def test_precision():
    assert precision(X).itemsize == 4


def test_histogram():
    assert histogram(DataLoader(TensorDataset(X), batch_size=2)).shape == (3,)
"""

WRONG = METERS.format(brought="", there="", host="")
RIGHT = {
    "stay": METERS.format(brought=".to(x.device)", there="", host=""),
    "results": METERS.format(brought="", there=".to(x.device)", host=""),
    "default": METERS.format(brought="", there="", host=", device='cpu'"),
    "data": METERS.format(brought=".to(batch.device)", there="", host=""),
}
RIGHT["stay"] = RIGHT["stay"].replace("x.sum(0).to(x.device)", "x.sum(0).to(self._device)")
RIGHT["stay"] = RIGHT["stay"].replace("self.weights.to(x.device)", "self.weights.to(y.device)")
STAY = "devlint_stay =\n    meters.Meter meters.Plate meters.Weighted\n    masked(mask)\n"
FOUND = {
    "stay": ["meters.py:11:9: DEV401", "meters.py:19:16: DEV401", "meters.py:28:17: DEV401", "meters.py:33:12: DEV401"],
    "results": ["meters.py:41:12: DEV101 warning"],
    "default": ["meters.py:45:12: DEV403"],
    "data": ["meters.py:49:13: DEV101"],
}


def lifted(pytester: pytest.Pytester, placement: str, program: str) -> pytest.RunResult:
    pytester.makepyfile(meters=program, test_meters=TESTS)
    pytester.makeini("[pytest]\ndevlint_lift =\n    meters.*\n" + (STAY if placement == "stay" else ""))
    more = () if placement == "stay" else ("--devlint-placement", placement)
    return run(pytester, "--devlint", "--devlint-warn", *more)


@pytest.mark.parametrize("placement", FOUND)
def test_what_only_such_users_meet_is_found(pytester: pytest.Pytester, placement: str) -> None:
    result = lifted(pytester, placement, WRONG)
    result.assert_outcomes(passed=7)
    text = result.stdout.str()
    assert [place for place in FOUND[placement] if place not in text] == [], text
    assert f"{len(FOUND[placement])} device-placement problem" in text


@pytest.mark.parametrize("placement", FOUND)
def test_code_that_reckons_with_them_is_silent(pytester: pytest.Pytester, placement: str) -> None:
    result = lifted(pytester, placement, _fitted(RIGHT[placement], placement))
    result.assert_outcomes(passed=7)
    assert "no device-placement problems found" in result.stdout.str(), result.stdout.str()
    if placement != "default":  # there the loader of the test has its data on the host
        assert "inconclusive" not in result.stdout.str()


def _fitted(program: str, placement: str) -> str:
    """Names that only the other functions have, taken out of each."""
    if placement == "stay":
        return program.replace("total = total.to(x.device) + batch", "total = total + batch")
    if placement == "data":
        before = program.replace("total.to(batch.device)", "TOTAL").replace(".to(batch.device)", "")
        return before.replace("TOTAL", "total.to(batch.device)")
    return program


def test_together_they_show_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(meters=WRONG, test_meters=TESTS)
    pytester.makeini("[pytest]\ndevlint_lift =\n    meters.*\n")
    result = run(pytester, "--devlint")
    assert result.ret == 0
    assert "no device-placement problems found" in result.stdout.str()


SPLIT = """
import torch


class Probe(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model(x){brought} * x.sum(1)


def difference(model, x):
    before = model(x)
    after = model(torch.zeros_like(x))
    return x * (before - after){brought}[:, None]


def change(model, x):
    return model(x) - model(x * 2)
"""
TESTS_OF_SPLIT = """
import split
import torch
from split import change


class Part(torch.nn.Module):
    def forward(self, x):
        return x * 2


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()
        self.linear = torch.nn.Linear(3, 1)

    def forward(self, x):
        return self.linear(self.part(x) + x).squeeze(1)


X = torch.rand(4, 3)


def test_probe():
    split.Probe(Model())(X).sum().backward()


def test_difference():
    assert split.difference(Model(), X).shape == X.shape


def test_change():
    assert change(Model(), X).shape == (4,)


def test_model_by_itself():
    assert Model()(X).shape == (4,)
"""


@pytest.mark.parametrize("device", ["sim", "sim:1"])
def test_a_model_of_the_tests_that_is_split(pytester: pytest.Pytester, device: str) -> None:
    pytester.makeini("[pytest]\ndevlint_lift =\n    split.*\n")
    options = ("--devlint", "--devlint-warn", "--devlint-device", device, "--devlint-placement", "split")
    texts = {}
    for name, brought in {"wrong": "", "right": ".to(x.device)"}.items():
        pytester.makepyfile(split=SPLIT.format(brought=brought), test_split=TESTS_OF_SPLIT)
        result = run(pytester, *options)
        result.assert_outcomes(passed=4)
        texts[name] = result.stdout.str()
    places = ["split.py:10:16: DEV401", "split.py:16:12: DEV401"]
    assert [place for place in places if place not in texts["wrong"]] == [], texts["wrong"]
    assert "2 device-placement problems" in texts["wrong"]
    assert "no device-placement problems found" in texts["right"], texts["right"]
    assert "inconclusive" not in texts["right"]


def test_a_split_model_needs_code_that_calls_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(split=SPLIT.format(brought=""), test_split=TESTS_OF_SPLIT)
    result = run(pytester, "--devlint", "--devlint-placement", "split")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *needs devlint_lift*"])


def test_an_object_that_a_model_of_the_tests_makes(pytester: pytest.Pytester) -> None:
    """By itself what a test asks for is the test's to place; of what nobody moves, it is the object's."""
    tests = TESTS + "\n\ndef test_sampled():\n    applied(sampled, X)\n"
    tests = tests.replace("import Meter", "import applied, Meter")
    program = WRONG + "\n\ndef applied(function, x):\n    return function(x)\n"
    pytester.makepyfile(meters=program, test_meters=tests)
    pytester.makeini("[pytest]\ndevlint_lift =\n    meters.*\n")
    told = run(pytester, "--devlint", "--devlint-warn", "-k", "sampled").stdout.str()
    assert "no device-placement problems found" in told
    assert "inconclusive: 1 clash" in told
    pytester.makeini("[pytest]\ndevlint_lift =\n    meters.*\ndevlint_stay = meters.Plate\n")
    assert "1 device-placement problem found" in run(pytester, "--devlint", "-k", "sampled").stdout.str()


def test_what_the_code_itself_brings_to_the_host_is_its_own(pytester: pytest.Pytester) -> None:
    """Also where nobody knows where it was made."""
    tests = "import torch\nfrom meters import back_and_forth\n\n\ndef test_it():\n    back_and_forth(torch.rand(3))\n"
    pytester.makepyfile(meters=WRONG, test_meters=tests)
    pytester.makeini("[pytest]\ndevlint_lift =\n    meters.*\n")
    result = run(pytester, "--devlint")
    assert result.ret == 1
    assert "meters.py:37:12: DEV401" in result.stdout.str()


@pytest.mark.parametrize(("stay", "why"), [("meters.absent", "is no class"), ("nowhere.Meter", "nowhere")])
def test_a_name_that_leads_nowhere_is_refused(pytester: pytest.Pytester, stay: str, why: str) -> None:
    pytester.makepyfile(meters=WRONG, test_meters=TESTS)
    pytester.makeini(f"[pytest]\ndevlint_stay = {stay}\n")
    text = run(pytester, "--devlint").stdout.str()
    assert "devlint_stay" in text
    assert why in text
