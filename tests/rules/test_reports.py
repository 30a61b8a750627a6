"""What a report says: its message names devices and the consequence, its trace leads there, its help repairs it."""

from __future__ import annotations

from textwrap import dedent

import pytest

from devlint.finding import Applicability, Confidence, Finding, Severity
from tests.fixture_expectations import lint_text


def only(code: str, source: str, path: str = "library.py") -> Finding:
    """The one finding of this code."""
    found = [finding for finding in lint_text(dedent(source), path) if finding.code == code]
    assert len(found) == 1, [finding.message for finding in found]
    return found[0]


def lines_of_the_trace(finding: Finding) -> list[int]:
    return [step.place.line for step in finding.trace]


LOST = """
    import torch

    def product(weights: torch.Tensor, device: torch.device) -> torch.Tensor:
        sample = torch.rand(4)
        sample.to(device)
        return weights.to(device) @ sample
"""


def test_lost_transfer_names_the_copy_the_original_and_the_clash() -> None:
    finding = only("DEV201", LOST)
    assert finding.message.startswith(
        "`sample.to(device)` returns a new tensor that is thrown away; `sample` stays on the CPU; "
    )
    assert "`weights.to(device) @ sample` fails" in finding.message


def test_lost_transfer_is_at_the_transfer_and_traced_from_birth_to_clash() -> None:
    finding = only("DEV201", LOST)
    assert finding.place.line == 6
    assert lines_of_the_trace(finding)[:2] == [5, 6]
    assert lines_of_the_trace(finding)[-1] == 7


def test_lost_transfer_is_repaired_by_assigning_it() -> None:
    fix = only("DEV201", LOST).fix
    assert fix is not None
    assert (fix.applicability, fix.message) == (Applicability.UNSAFE, "write `sample = sample.to(device)`")


def test_lost_transfer_takes_the_clash_with_it() -> None:
    codes = {finding.code for finding in lint_text(dedent(LOST), "library.py")}
    assert codes == {"DEV201"}


def forgotten(move: str) -> Finding:
    return only(
        "DEV208",
        f"""
        import torch
        from torch import nn

        def fit(model: nn.Module, loader, device: torch.device) -> None:
            model.{move}
            criterion = nn.CrossEntropyLoss()
            for x, y in loader:
                x = x.{move}
                criterion(model(x), y).backward()
        """,
    )


def test_forgotten_operand_is_moved_as_its_sibling_was() -> None:
    assert forgotten("to(device)").help == "move it as well: `y.to(device)`"


def test_forgotten_operand_is_never_moved_to_the_current_device() -> None:
    assert forgotten("cuda()").help == "move it as well: `y.to(x.device)`"


def test_forgotten_operand_shows_where_its_sibling_went() -> None:
    finding = forgotten("to(device)")
    assert (9, "`x` of the same batch is moved here") in [(s.place.line, s.message) for s in finding.trace]


def test_copy_that_is_read_too_early_is_reported_at_the_copy() -> None:
    finding = only(
        "DEV602",
        """
        import torch

        def fetch(x: torch.Tensor) -> list[float]:
            host = x.cuda().to("cpu", non_blocking=True)
            return host.tolist()
        """,
    )
    assert (finding.place.line, lines_of_the_trace(finding)) == (5, [5, 6])
    assert finding.fix is not None
    assert finding.fix.applicability is Applicability.SAFE


def test_random_creation_is_not_moved_safely() -> None:
    source = "import torch\n\ndef f(x: torch.Tensor) -> torch.Tensor:\n    return torch.{}(3).to(x.device)\n"
    kinds = {name: only("DEV701", source.format(name)).fix for name in ("zeros", "rand")}
    assert {name: fix.applicability for name, fix in kinds.items() if fix} == {
        "zeros": Applicability.SAFE,
        "rand": Applicability.UNSAFE,
    }


@pytest.mark.parametrize(
    ("path", "confidence"),
    [
        ("package/model.py", Confidence.HIGH),
        ("scripts/train.py", Confidence.MEDIUM),
        ("tests/test_model.py", Confidence.LOW),
        ("benchmarks/speed.py", Confidence.LOW),
    ],
)
def test_named_index_is_surest_in_a_library(path: str, confidence: Confidence) -> None:
    source = "import torch\n\ndef load(net: torch.nn.Module) -> torch.nn.Module:\n    return net.to('cuda:1')\n"
    assert only("DEV301", source + "\nprint(load)\n", path).confidence is confidence


def test_what_a_script_never_names_is_as_what_a_library_defines() -> None:
    source = "import torch\n\ndef load(net: torch.nn.Module) -> torch.nn.Module:\n    return net.to('cuda:1')\n"
    assert only("DEV301", source, "scripts/train.py").confidence is Confidence.HIGH
    assert only("DEV301", source, "tests/test_model.py").confidence is Confidence.LOW


def test_messages_are_the_same_in_every_run() -> None:
    """No identity of an object may get into a text: reports are compared and fingerprinted."""
    source = """
        import torch

        def total() -> torch.Tensor:
            field = torch.ones(8, device="cuda").exp()
            side = torch.cuda.Stream()
            with torch.cuda.stream(side):
                return field.sum()
    """
    assert only("DEV601", source).message == only("DEV601", source).message
    assert "@" not in only("DEV601", source).message


@pytest.mark.parametrize(
    ("function", "confidence"),
    [
        ("def forward(self, x):\n        return x + torch.zeros(x.shape)", Confidence.HIGH),
        ("def forward(self, x):\n        return self.layer(torch.zeros(4))", Confidence.HIGH),
        ("def forward(self, x):\n        return x.cuda() + torch.zeros(4)", Confidence.HIGH),
        ("@staticmethod\n    def f(x: torch.Tensor):\n        return x + torch.zeros(4)", Confidence.MEDIUM),
    ],
)
def test_a_clash_that_needs_a_caller_on_an_accelerator_is_only_likely(function: str, confidence: Confidence) -> None:
    source = f"""
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    {function}
"""
    finding = only("DEV101", source)
    assert (finding.severity, finding.confidence) == (Severity.WARNING, confidence)


FORECASTER = """
    import torch
    from torch import nn

    class Forecaster(nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.layer = nn.Linear(width, width)
            self.register_buffer("scale", torch.ones(width))

        def forward(self, past: torch.Tensor) -> torch.Tensor:
            step = self.layer(past).cpu()
            return torch.cat([{}, step])
"""


@pytest.mark.parametrize(
    ("other", "confidence"),
    [
        ("past", Confidence.LOW),
        ("past[:, :-1]", Confidence.LOW),
        ("self.layer(past)", Confidence.HIGH),
        ("self.scale[None]", Confidence.HIGH),
    ],
)
def test_what_is_brought_to_the_cpu_beside_an_input_may_be_meant(other: str, confidence: Confidence) -> None:
    """A forecaster may be fed from the CPU; what its layers compute and its buffers are where it was moved."""
    finding = only("DEV401", FORECASTER.format(other))
    assert (finding.severity, finding.confidence) == (Severity.WARNING, confidence)


OBSERVED = """
    import torch
    from torch import nn

    class Policy(nn.Module):
        def __init__(self):
            super().__init__()
            self.mean = nn.Linear(4, 2)

        def forward(self, seen):
            return self.mean(seen)

    def acted(env):
        policy = Policy().cuda()
        return policy(torch.as_tensor(env.reset()))
"""


def test_what_rests_on_a_convention_is_likely_only_and_says_which() -> None:
    finding = only("DEV101", OBSERVED)
    assert (finding.severity, finding.confidence) == (Severity.WARNING, Confidence.MEDIUM)
    assert "a simulated environment gives them" in finding.trace[0].message
    sure = only("DEV101", OBSERVED.replace("torch.as_tensor(env.reset())", "torch.zeros(4)"))
    assert (sure.severity, sure.confidence) == (Severity.WARNING, Confidence.HIGH)


def test_a_rule_that_is_right_when_it_is_sure_says_errors() -> None:
    """The others say warnings: `tests/benchmarks/test_calibration.py` holds which those are."""
    sure = only("DEV102", "import torch\n\nzeros = torch.FloatTensor(3, 4, device='cuda')\n")
    assert (sure.severity, sure.confidence) == (Severity.ERROR, Confidence.HIGH)


def test_an_argument_that_may_be_none_does_not_say_the_device_where_what_it_meets_does() -> None:
    finding = only(
        "DEV101",
        """
        import einx
        import torch
        from torch import einsum, nn

        class Attention(nn.Module):
            def forward(self, x, mask=None):
                x = self.norm(x)
                q, k = self.to_qk(x)
                scores = self.heads(einsum("i d, j d -> i j", q, k))
                if mask is not None:
                    scores = einx.where("j, i j, -> i j", mask, scores, -1.0)
                if self.causal:
                    later = torch.ones(scores.shape[-2:], dtype=torch.bool)
                    scores = scores.masked_fill(later, -1.0)
                return scores
        """,
    )
    assert finding.help == "pass `device=scores.device`"


IN_PAIRS = """
    import torch
    from torch import Tensor

    def joined(pairs: tuple[Tensor, Tensor], count: int) -> Tensor:
        found = torch.tensor([])
        for i in range(count):
            found = torch.cat((found, pairs[1][i].unsqueeze(0)))
        return found
"""


def test_a_container_has_no_device_but_its_item_has() -> None:
    assert only("DEV101", IN_PAIRS).help == "pass `device=pairs[1].device`"
    drawn = IN_PAIRS.replace("pairs[1][i]", "pairs[i]")
    assert only("DEV101", drawn).help == "create it on the device of `pairs[i].unsqueeze(0)`"


MASKED = """
    import torch
    from torch import Tensor

    def picked(values: list[float], mask: Tensor = None) -> Tensor:
        chosen = torch.tensor(values)
        return chosen[mask].sum()
"""


def test_what_may_be_none_has_no_device() -> None:
    assert only("DEV101", MASKED).help == "create it on the device of `mask`, where that is not None"
    assert only("DEV101", MASKED.replace(" = None", "")).help == "pass `device=mask.device`"


READ = """
    import torch
    from torch import nn

    class Reader(nn.Module):
        def __init__(self, words):
            super().__init__()
            self.words = words
            self.embedding = nn.Embedding(10, 4)

        def forward(self, text):
            text = " ".join(part.strip() for part in text)
            ids = [self.words[word] for word in text.split()]
            return self.embedding(torch.LongTensor(ids))
"""


def test_what_is_bound_to_something_else_by_then_has_no_device() -> None:
    assert only("DEV101", READ).help == "`torch.LongTensor(ids).to(next(self.parameters()).device)`"


ARMS = """
    import torch

    class Reader:
        def __init__(self, model, device):
            self.device = device
            self.table = torch.ones(3, 4).to(model.device)

        def rows(self, lines, drops: bool):
            rows = self.table
            if drops:
                rows = torch.zeros(len(lines), 4)
            return rows
"""


def test_what_came_in_elsewhere_cannot_be_asked() -> None:
    assert only("DEV407", ARMS).help == "make it on the device of the other arm"


LOOP = """
    import torch

    def joined(parts: list[torch.Tensor], device: torch.device) -> torch.Tensor:
        for i, part in enumerate(parts):
            part.to(device)
        return torch.cat(parts)
"""


def test_an_item_that_is_moved_in_a_loop_is_stored_where_the_loop_has_it_from() -> None:
    assert only("DEV201", LOOP).help == "write `parts[i] = part.to(device)`"
    by_key = LOOP.replace("i, part in enumerate(parts)", "key, part in parts.items()").replace(
        "list[torch.Tensor]", "dict[str, torch.Tensor]"
    )
    assert only("DEV201", by_key).help == "write `parts[key] = part.to(device)`"
    read = LOOP.replace("part.to(device)", "part.to(device); print(part.mean(0))")
    assert only("DEV201", read).help == "write `part = part.to(device)`"


KEPT_FUNCTION = """
    import torch
    from torch import nn

    class Spectrum(nn.Module):
        def __init__(self, window_fn=torch.hann_window):
            super().__init__()
            self.window_fn = window_fn

        def forward(self, audio):
            return torch.stft(audio, 64, window=self.window_fn(64))
"""


def test_what_stands_for_a_default_need_not_take_a_device() -> None:
    finding = only("DEV101", KEPT_FUNCTION)
    assert finding.help == "`self.window_fn(64).to(audio.device)`"
    assert (finding.severity, finding.confidence) == (Severity.WARNING, Confidence.MEDIUM)
    assert "taken for the function that makes it by default" in finding.trace[0].message
