"""``pytest --devlint``: tests pass as they did, and say what would have happened on an accelerator."""

from __future__ import annotations

import importlib.metadata
import json

import pytest
import torch
import torch._dynamo  # once: an inner run forgets what it imported, and torch cannot be imported twice

import devlint.confirmation.lifted
import devlint.runtime.lifting.calls  # noqa: F401

pytest_plugins = ["pytester"]

NET = """
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.table = torch.ones(4)

    def forward(self, x):
        return self.norm(x) * self.table


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.tied = self.lin
        self.head = Head()
        self.drop = nn.Dropout(0.5)
        self.cache = None
        self.calls = []

    def forward(self, x):
        self.calls.append(x.device.type)
        if self.cache is None:
            self.cache = x.detach().mean()
        self.where = x.device
        shift = torch.zeros(4)
        return self.drop(self.head(self.tied(self.lin(x)) + shift) + self.cache)


def summed(model, x):
    return model.lin.weight.sum() + torch.zeros(4) + x.sum()
"""

RIGHT = """
import torch
from torch import nn


class Right(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        mask = torch.ones(4, device=x.device)
        return self.drop(self.norm(self.lin(x) * mask))
"""


INSTALLED = any(entry.name == "devlint" for entry in importlib.metadata.entry_points(group="pytest11"))
LOADED = () if INSTALLED else ("-p", "devlint.pytest_plugin")


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest_inprocess(*LOADED, "-p", "no:cacheprovider", *arguments)


def test_findings_with_their_tests_fail_the_run(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        net=NET, test_net="import torch\nfrom net import Net\n\n\ndef test_it():\n    Net()(torch.rand(3, 4))\n"
    )
    assert run(pytester).ret == 0
    result = run(pytester, "--devlint", "--devlint-report", "report.json")
    assert result.ret == 1
    result.assert_outcomes(passed=1)
    text = result.stdout.str()
    assert "net.py:30:17: DEV101 error" in text
    assert "net.py:6:1: DEV501 error [unregistered-tensor] `self.table` on cpu" in text
    assert "seen by test_net.py::test_it" in text
    assert "1 call of modules in 1 test ran on cuda:0 (simulated): 2 device-placement problems found" in text
    document = json.loads((pytester.path / "report.json").read_text())
    assert sorted(finding["code"] for finding in document["findings"]) == ["DEV101", "DEV501"]
    assert {finding["verdict"]["entry"] for finding in document["findings"]} == {"test_net.py::test_it"}
    assert run(pytester, "--devlint", "--devlint-warn").ret == 0


def test_comment_silences_a_finding(pytester: pytest.Pytester) -> None:
    silenced = NET.replace("torch.zeros(4)\n        return", "torch.zeros(4)  # noqa: DEV101\n        return")
    silenced = silenced.replace("self.table = torch.ones(4)", "self.register_buffer('table', torch.ones(4))")
    pytester.makepyfile(
        net=silenced, test_net="import torch\nfrom net import Net\n\n\ndef test_it():\n    Net()(torch.rand(3, 4))\n"
    )
    assert run(pytester, "--devlint").ret == 0


def test_everything_comes_back(pytester: pytest.Pytester) -> None:
    """The same values, gradients, buffers, random numbers and hooks as without lifting, all of them on the CPU."""
    pytester.makepyfile(
        net=NET,
        right=RIGHT,
        test_right="""
        import copy
        import torch
        from torch import nn
        from net import Net
        from right import Right


        def step(model, x):
            torch.manual_seed(3)
            out = model(x)
            out.sum().backward()
            return out


        def test_values():
            model = Right()
            twin = copy.deepcopy(model)
            x = torch.rand(5, 4, requires_grad=True)
            out = step(model, x)
            grads = [x.grad.clone(), *(p.grad.clone() for p in model.parameters())]
            x.grad = None
            torch.manual_seed(3)
            mask = torch.ones(4)
            plain = twin.drop.forward(twin.norm.forward(twin.lin.forward(x) * mask))
            plain.sum().backward()
            assert torch.equal(out, plain)
            assert all(torch.equal(a, b) for a, b in zip(grads, [x.grad, *(p.grad for p in twin.parameters())]))
            assert torch.equal(model.norm.running_mean, twin.norm.running_mean)
            assert int(model.norm.num_batches_tracked) == 1
            tensors = [out, x.grad, *model.parameters(), *model.buffers()]
            assert {t.device.type for t in tensors} == {"cpu"}
            assert not torch.cuda.is_available()


        def test_training_and_shared_parameters():
            model = Net()
            optimizer = torch.optim.Adam(model.parameters())
            before = model.lin.weight.detach().clone()
            for _ in range(3):
                optimizer.zero_grad()
                step(model, torch.rand(6, 4))
                optimizer.step()
            assert not torch.equal(before, model.lin.weight)
            assert len(list(model.parameters())) == 4
            assert model.where == torch.device("cpu")
            assert model.cache.device.type == "cpu"
            assert int(model.head.norm.num_batches_tracked) == 3
            torch.zeros(2, device=model.where)


        def test_hooks_no_grad_and_in_place():
            seen = []
            model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True))
            model[0].register_forward_hook(lambda module, args, out: seen.append(out))
            x = torch.rand(2, 4)
            with torch.no_grad():
                out = model(x)
            assert not out.requires_grad
            assert seen[0].device.type == "cpu"

            class Adds(nn.Module):
                def forward(self, x, items):
                    x += 1
                    items["sum"] = x.sum()
                    return x

            items = {}
            kept = x.clone()
            assert Adds()(x, items) is x
            assert torch.equal(x, kept + 1)
            assert items["sum"].device.type == "cpu"


        def test_exceptions_and_devices_named_by_the_test():
            import pytest
            model = Net()
            with pytest.raises(RuntimeError, match="shapes"):
                model(torch.rand(2, 5))
            assert model.calls == ["cpu"]
            device = torch.device("cpu")
            assert model.to(device)(torch.rand(3, 4, device=device)).device == device
            meta = nn.Linear(4, 4, device="meta")
            assert meta(torch.rand(3, 4, device="meta")).device.type == "meta"
        """,
    )
    result = run(pytester, "--devlint", "--devlint-warn")
    result.assert_outcomes(passed=4)
    assert "not lifted: 1 x the program itself uses meta" in result.stdout.str()


LIBRARY = """
import torch


def attribution(function, x, keep=None):
    made = function(x)
    kept = torch.zeros(4) if keep is None else keep(x)
    return x * made + kept


def default_of(x):
    return torch.zeros(4)


def default(size):
    return torch.zeros(size)


class Noise:
    def __init__(self, scale):
        self.scale = scale

    def beside(self):
        return self.scale + torch.randn(4, device=self.scale.device)

    def drawn(self):
        return self.scale + torch.randn(4)
"""


@pytest.mark.parametrize(
    ("call", "found", "inconclusive"),
    [
        ("attribution(lambda x: torch.ones(4), X, keep=torch.zeros_like)", "no", True),
        ("attribution(perturbed, X, keep=torch.zeros_like)", "no", True),
        ("attribution(Model(), X, keep=torch.zeros_like)", "no", True),
        # What the library makes is its own doing, whoever calls it.
        ("attribution(torch.ones_like, X)", "1", False),
        ("attribution(torch.ones_like, X, keep=lambda x: default_of(x))", "1", False),
        # What the library is asked for without a tensor, it could not make elsewhere ...
        ("attribution(torch.ones_like, X, keep=lambda x: default(4))", "no", True),
        ("attribution(torch.ones_like, X, keep=Asks())", "no", True),
        # ... and what it puts where a value of the test is, is there because of the test.
        ("attribution(torch.ones_like, X, keep=lambda x: Noise(torch.ones(4)).beside())", "no", True),
        ("attribution(torch.ones_like, X, keep=lambda x: Noise(torch.ones(4)).drawn())", "1", False),
        # What only tests have to do with is told where it is.
        ("Alone()(X)", "1", False),
    ],
)
def test_what_a_test_hands_over_was_written_for_the_cpu(
    pytester: pytest.Pytester, call: str, found: str, inconclusive: bool
) -> None:
    pytester.makepyfile(
        library=LIBRARY,
        test_it=f"""
        import torch
        from torch import nn
        from library import Noise, attribution, default, default_of

        X = torch.rand(3, 4)

        def perturbed(x):
            return (torch.rand(4) + 1).clone()

        class Model(nn.Module):
            def forward(self, x):
                return torch.ones(4)

        class Alone(nn.Module):
            def forward(self, x):
                return x + torch.ones(4)

        class Asks(nn.Module):
            def forward(self, x):
                return default(*(4,)) / 2

        def test_it():
            {call}
        """,
    )
    pytester.makeini("[pytest]\ndevlint_lift = library.attribution\n")
    result = run(pytester, "--devlint", "--devlint-warn", "-s")
    text = result.stdout.str()
    assert f"{found} device-placement problem" in text
    assert ("inconclusive: " in text) == inconclusive


def test_tensors_from_elsewhere_are_no_findings(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_net="""
        import torch
        from torch import nn

        OFFSET = torch.ones(4)

        class Net(nn.Module):
            def forward(self, x):
                return x + OFFSET

        def test_it():
            Net()(torch.rand(3, 4))
        """
    )
    result = run(pytester, "--devlint")
    assert result.ret == 0
    assert "inconclusive: 1 clash" in result.stdout.str()


GIVES = """
import torch
from torch import nn


class Loss(nn.Module):
    def forward(self, x, known):
        if known.any():
            return x[known].sum()
        return torch.zeros(1)


class Sizes(nn.Module):
    def forward(self, x):
        return x.detach().cpu() * 2


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        return self.lin(x), torch.linspace(0, 1, 4)


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        out, places = self.inner(x)
        return out + places.to(x.device)
"""

GIVES_TESTS = """
import torch
from gives import Inner, Loss, Outer, Sizes


def test_loss():
    assert Loss()(torch.ones(3), torch.zeros(3, dtype=torch.bool)) == 0


def test_sizes():
    assert Sizes()(torch.ones(3)).sum() == 6


def test_outer():
    assert Outer()(torch.ones(2, 4)).shape == (2, 4)
"""


def test_what_a_module_hands_back_on_the_cpu_is_a_finding(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(gives=GIVES, test_gives=GIVES_TESTS)
    result = pytester.runpytest_subprocess("--devlint", "--devlint-report=found.json", "-p", "no:xdist")
    result.assert_outcomes(passed=3)
    document = json.loads((pytester.path / "found.json").read_text("utf-8"))
    assert [(f["code"], f["severity"], f["line"]) for f in document["findings"]] == [("DEV101", "warning", 9)]


def test_the_batch_sizes_of_a_packed_sequence_stay_on_the_host(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        packed="""
        import torch
        from torch import nn

        def moved(rows, device):
            return rows.to(device)

        class Encoder(nn.Module):
            def __init__(self):
                super().__init__()
                self.rnn = nn.GRU(4, 5)

            def forward(self, rows):
                return self.rnn(rows.to(self.rnn.weight_ih_l0.device))
        """,
        test_packed="""
        import torch
        from torch.nn.utils.rnn import pack_sequence
        from packed import Encoder, moved

        def test_moved():
            rows = moved(pack_sequence([torch.ones(3, 4), torch.ones(2, 4)]), "cpu")
            assert rows.batch_sizes.tolist() == [2, 2, 1]

        def test_encoded():
            _, state = Encoder()(pack_sequence([torch.ones(3, 4), torch.ones(2, 4)]))
            assert state.shape == (1, 2, 5)
        """,
    )
    result = pytester.runpytest_subprocess("--devlint", "-p", "no:xdist", "-o", "devlint_lift=packed.*")
    result.assert_outcomes(passed=2)
    assert "ran on cuda:0 (simulated): no device-placement problems found" in result.stdout.str()


def test_what_a_module_was_handed_is_no_finding_and_what_it_keeps_is_one(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        net="""
        import torch
        from torch import nn

        class Shifted(nn.Module):
            def __init__(self, start):
                super().__init__()
                self.start = start
                self.shift = None

            def use(self, shift):
                self.shift = shift.reshape(-1)

            def forward(self, x):
                return x * self.shift + self.start
        """,
        test_net="""
        import torch
        from net import Shifted

        def test_it():
            net = Shifted(torch.zeros(4))
            net.use(torch.ones(2, 2))
            net(torch.rand(3, 4))
            net.shift = torch.ones(4)
            net(torch.rand(3, 4))
        """,
    )
    result = run(pytester, "--devlint")
    text = result.stdout.str()
    assert "1 device-placement problem found" in text
    assert "net.py:5:1: DEV501" in text
    assert "`self.start` on cpu meets" in text
    assert "inconclusive: 1 clash with" in text


def test_what_a_function_that_is_handed_over_holds_is_lifted(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_net="""
        from functools import partial

        import torch
        from torch import nn

        class Averages(nn.Module):
            def forward(self, function, x):
                return function(x).mean()

        class Likelihood(nn.Module):
            def __init__(self):
                super().__init__()
                self.noise = nn.Parameter(torch.ones(4))
                self.average = Averages()

            def scaled(self, x, by):
                return x * self.noise * by

            def expected(self, target, x):
                return self.average(lambda y: (y - target) * self.noise, x)

        def test_it():
            net = Likelihood()
            net.expected(torch.ones(3, 4), torch.rand(3, 4)).backward()
            assert net.noise.grad is not None
            net.average(partial(net.scaled, by=torch.ones(4)), torch.rand(3, 4))
        """
    )
    result = run(pytester, "--devlint")
    assert result.ret == 0
    assert "2 calls of modules in 1 test ran on cuda:0 (simulated): no device" in result.stdout.str()
    assert "inconclusive" not in result.stdout.str()


def test_more_is_lifted_by_name(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ndevlint_lift =\n    net.summed\n")
    pytester.makepyfile(
        net=NET,
        test_net="import torch\nfrom net import Net, summed\n\n\ndef test_it():\n    summed(Net(), torch.rand(3, 4))\n",
    )
    result = run(pytester, "--devlint")
    assert result.ret == 1
    assert "net.py:35:37: DEV101" in result.stdout.str()
    pytester.makeini("[pytest]\ndevlint_lift =\n    net.absent\n")
    result = run(pytester, "--devlint")
    assert "net.absent is neither an imported function nor a method" in result.stdout.str()


KINEMATICS = """
import torch


def rotated(points, by: float = 0.5):
    return points @ torch.eye(3)


class Arm:
    def __init__(self, links):
        self.chain = (links, (Joint(links),))

    def reach(self, goal):
        return self.chain[1][0].length(goal)

    def steps(self):
        for number in range(2):
            yield torch.full((3,), number) + self.chain[0][0]

    @staticmethod
    def norm(points):
        return points / torch.ones(3)

    @classmethod
    def rested(cls, points):
        return points + torch.zeros(3)


class Hand(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.grip = torch.nn.Parameter(torch.ones(3))
        self.open()

    def open(self):
        self.spread = self.grip.new_zeros(3)

    def closed(self, points):
        return points + self.grip + self.spread


class Joint:
    def __init__(self, links):
        self.size = links.norm() + torch.zeros(3)
        self.kept = [{"links": links}]

    def length(self, goal):
        return (self.kept[0]["links"].sum() - goal).norm()
"""

KINEMATICS_TESTS = """
import inspect
import torch
from arms.joints import Arm, Hand, rotated as turned


def test_it():
    points = torch.rand(2, 3)
    assert list(inspect.signature(turned).parameters) == ["points", "by"]
    turned(points)
    Arm.norm(points)
    Arm(points).rested(points)
    assert len(list(Arm(points).steps())) == 2


def test_what_a_module_makes_while_it_is_built():
    Hand().closed(torch.rand(3))


def test_what_is_kept_deep_inside():
    assert Arm(torch.rand(4, 3)).reach(torch.rand(3)).device.type == "cpu"
"""


def test_all_that_a_package_defines_is_lifted(pytester: pytest.Pytester) -> None:
    package = pytester.mkpydir("arms")
    (package / "joints.py").write_text(KINEMATICS, "utf-8")
    pytester.makeini("[pytest]\ndevlint_lift =\n    arms.*\n")
    pytester.makepyfile(test_arms=KINEMATICS_TESTS)
    result = run(pytester, "--devlint")
    text = result.stdout.str()
    result.assert_outcomes(passed=3)
    # A function under another name, a static and a class method, and the constructor of what is no Module; not what is
    # right, nor the steps of a generator.
    assert all(f"joints.py:{line}:" in text for line in (6, 22, 26, 44))
    # What a Module keeps plainly was made before it was moved.
    assert "joints.py:30:1: DEV501 error [unregistered-tensor] `self.spread` on cpu" in text
    assert "5 device-placement problems found" in text
    pytester.makeini("[pytest]\ndevlint_lift =\n    legs.*\n")
    assert "legs cannot be imported" in run(pytester, "--devlint").stdout.str()


def test_what_a_package_defines_for_its_tests_is_not_lifted(pytester: pytest.Pytester) -> None:
    package = pytester.mkpydir("arms")
    helpers = package / "test"
    helpers.mkdir()
    (helpers / "__init__.py").touch()
    base = "import torch\n\n\nclass Case:\n    rows = torch.ones(2)\n\n    def targets(self, like):\n        "
    (helpers / "cases.py").write_text(base + "return torch.randn(2)\n", "utf-8")
    (package / "cases.py").write_text(base + "return torch.randn(2)\n", "utf-8")
    pytester.makeini("[pytest]\ndevlint_lift =\n    arms.*\n")
    pytester.makepyfile(
        test_arms="""
        import torch
        import arms.cases
        import arms.test.cases

        def test_it():
            arms.test.cases.Case().targets(torch.ones(2))
            arms.cases.Case().targets(torch.ones(2))
        """
    )
    text = run(pytester, "--devlint").stdout.str()
    assert "cases.py:8:" in text
    assert "arms/test" not in text
    assert "1 call of modules in 1 test" in text


METERS = """
import torch
from torch import nn
from torch.utils.data import TensorDataset


class Meter:
    def __init__(self, device="cpu"):
        self.device = device
        self.total = torch.zeros(3, device=device)

    def add(self, rows):
        self.total = self.total + rows.sum(0) * torch.ones(3, device=self.device)
        return self.total


class Prior:
    def __init__(self, mean):
        self.means = {"rows": mean}


class Net(nn.Module):
    def __init__(self, prior):
        super().__init__()
        self.priors = [prior]

    def forward(self, x):
        return x - self.priors[0].means["rows"]


def standardised(x, rows: TensorDataset):
    return x / torch.as_tensor(rows.tensors[0].numpy().std(0), device=x.device)
"""

METERS_TESTS = """
import torch
from torch.utils.data import TensorDataset
from meters import Meter, Net, Prior, standardised


def test_an_object_makes_tensors_where_it_was_told():
    meter = Meter()
    for _ in range(2):
        meter.add(torch.rand(2, 3))
    assert meter.device == "cpu" and meter.total.device.type == "cpu"


def test_what_an_object_holds_that_a_module_was_given():
    Net(Prior(torch.rand(3)))(torch.rand(2, 3))


def test_data_stays_on_the_host():
    standardised(torch.rand(2, 3), TensorDataset(torch.rand(4, 3)))
"""


def test_objects_are_where_those_that_made_them_wanted_them(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ndevlint_lift =\n    meters.*\n")
    pytester.makepyfile(meters=METERS, test_meters=METERS_TESTS)
    result = run(pytester, "--devlint")
    assert result.ret == 0, result.stdout.str()
    result.assert_outcomes(passed=3)
    # Two objects and two sums, a Module's call after what it was given, a function.
    assert "6 calls of modules in 3 tests" in result.stdout.str()
    assert "inconclusive" not in result.stdout.str()
    assert "only while lifted" not in result.stdout.str()
    wrong = METERS.replace("device=self.device", "device='cpu'").replace("x - self", "torch.ones(3) + x - self")
    pytester.makepyfile(meters=wrong)
    text = run(pytester, "--devlint").stdout.str()
    assert "meters.py:12:" in text
    assert "meters.py:27:" in text


def test_the_second_device_tells_what_names_the_first(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        net="""
        import torch

        class Net(torch.nn.Linear):
            def forward(self, x):
                return super().forward(x) + torch.ones(4).cuda()
        """,
        test_net="""
        import torch
        from net import Net

        def test_it():
            Net(4, 4)(torch.rand(3, 4))
        """,
    )
    assert "no device-placement problems found" in run(pytester, "--devlint").stdout.str()
    text = run(pytester, "--devlint", "--devlint-device", "sim:1").stdout.str()
    assert "net.py:5:" in text
    assert "ran on cuda:1 (simulated): 1 device-placement problem found" in text


def test_classes_with_their_own_way_of_moving(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_net="""
        import torch
        from torch import nn

        class Metric(nn.Module):
            def __init__(self):
                super().__init__()
                self.total = torch.zeros(())
                self.rows = [torch.zeros(4)]
                self._device = torch.device("cpu")

            def _apply(self, fn, recurse=True):
                super()._apply(fn)
                self.total = fn(self.total)
                self.rows = [fn(row) for row in self.rows]
                return self

            def forward(self, x):
                self.total = self.total + x.sum()
                self.rows.append(x.mean(0) + torch.zeros(4, device=self._device))
                return torch.stack(self.rows).sum() + self.total

        def test_it():
            metric = Metric()
            for _ in range(3):
                metric(torch.rand(3, 4))
            assert metric._device == torch.device("cpu")
        """
    )
    result = run(pytester, "--devlint")
    assert result.ret == 0, result.stdout.str()
    assert "3 calls of modules in 1 test" in result.stdout.str()


def test_failing_and_skipped_tests_stay_what_they_are(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        right=RIGHT,
        test_right="""
        import pytest, torch
        from right import Right

        def test_fails():
            assert Right()(torch.rand(3, 4)).sum() == "no"

        @pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
        def test_skipped():
            raise AssertionError

        @pytest.mark.xfail
        def test_expected():
            Right()(torch.rand(3, 5))
        """,
    )
    result = run(pytester, "--devlint")
    result.assert_outcomes(failed=1, skipped=1, xfailed=1)
    assert result.ret == 1


def test_workers_of_xdist_are_gathered(pytester: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    pytester.makepyfile(
        net=NET,
        test_net="import pytest\nimport torch\nfrom net import Net\n\n\n@pytest.mark.parametrize('n', range(4))\n"
        "def test_it(n):\n    Net()(torch.rand(3, 4))\n",
    )
    result = run(pytester, "--devlint", "-n", "2")
    text = result.stdout.str()
    assert result.ret == 1, text
    assert "4 calls of modules in 4 tests ran on cuda:0 (simulated): 2 device-placement problems found" in text
    assert " and 1 more" in text


@pytest.mark.skipif(torch.accelerator.is_available(), reason="this machine has an accelerator")
def test_without_an_accelerator_a_real_one_is_refused_in_one_line(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it():\n    pass\n")
    result = run(pytester, "--devlint", "--devlint-device", "cuda")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in result.errlines if line.strip()]
    assert line == (
        "ERROR: --devlint-device cuda: no accelerator is available to this process, cuda:0 was asked for; "
        "sim simulates one"
    )


def test_plugin_costs_nothing_unless_asked_for(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "import sys\n\n\ndef test_it():\n"
        "    assert 'devlint.pytest_plugin' in sys.modules\n"
        "    assert not {'torch', 'libcst', 'devlint.runtime.session'} & set(sys.modules)\n"
    )
    result = pytester.runpytest_subprocess(*LOADED, "-p", "no:hypothesispytest")
    result.assert_outcomes(passed=1)


ONLY_LIFTED = """
import pytest
import torch
from torch import nn

calls = []


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        calls.append(x.device.type)
        return self.lin(x)


@pytest.fixture
def net():
    made = Net()
    yield made
    calls.append("torn down")


def test_looks_at_the_device(net):
    before = len(calls)
    net(torch.rand(3, 4))
    assert calls[before] == "cpu"


def test_fails_anyway(net):
    net(torch.rand(3, 4))
    assert 1 == 2


def test_passes(net):
    net(torch.rand(3, 4))


def test_what_the_compiler_did(net):
    explained = torch._dynamo.explain(net)(torch.rand(3, 4))
    assert explained.graph_count >= 1

"""


def test_a_test_that_fails_only_while_lifted_is_repeated_and_told_apart(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_net=ONLY_LIFTED)
    result = run(pytester, "--devlint", "-k", "not compiler")
    result.assert_outcomes(passed=2, failed=1)
    text = result.stdout.str()
    assert "no device-placement problems found" in text
    (told,) = [line for line in text.splitlines() if line.startswith("failed only while lifted")]
    assert told.startswith(
        "failed only while lifted, and passes without: test_net.py::test_looks_at_the_device: "
        "AssertionError: assert 'cuda' == 'cpu'"
    )
    assert told.endswith("(test_net.py:28)")
    assert "assert 1 == 2" in text
    assert "'cuda' == 'cpu'" not in text.partition("= devlint =")[0]


def test_what_the_compiler_is_asked_about_is_repeated_without_lifting(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_net=ONLY_LIFTED)
    result = run(pytester, "--devlint", "-k", "compiler")
    result.assert_outcomes(passed=1)
    assert result.ret == 0


def test_a_failure_while_lifted_that_has_a_finding_points_to_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        net=NET,
        test_net="""
        import torch
        from net import Net

        def test_it():
            net = Net()
            net(torch.rand(3, 4))
            assert net.calls == ["cpu"]
        """,
    )
    result = run(pytester, "--devlint")
    assert result.ret == 1
    result.assert_outcomes(passed=1)
    text = result.stdout.str()
    assert "net.py:30:17: DEV101 error" in text
    (told,) = [line for line in text.splitlines() if line.startswith("failed only while lifted")]
    assert told.endswith("(see above)")
