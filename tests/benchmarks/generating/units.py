"""Units: a few definitions that belong together, and the function that uses them as a program would."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tests.benchmarks.generating.writing import Callable_, Scope, expression, statements

_NAMES = "blend encode lookup mix score attend project pool window shift gather_rows positions rescale".split()
_CLASSES = "Encoder Mixer Gate Memory Probe Codebook Pooler Router Adapter Decoder Attention Scaler".split()


@dataclass(frozen=True)
class Unit:
    """``runs``: what the driver calls with the device (texts of functions): the unit's own use, then each definition as
    others would use it, everything handed in on the device. ``apart``: what stands in the other file."""

    lines: tuple[str, ...]
    apart: tuple[str, ...]
    imported: tuple[str, ...]
    runs: tuple[str, ...]


@dataclass
class Draft:
    """A unit while it is written."""

    rng: random.Random
    number: int
    careless: float
    lines: list[str]
    apart: list[str]
    imported: list[str]
    others: list[str] = field(default_factory=list)

    def scope(self, careless: float | None = None) -> Scope:
        return Scope(self.rng, self.careless if careless is None else careless)

    def name(self, names: list[str]) -> str:
        return f"{self.rng.choice(names)}_{self.number}_{len(self.lines) + len(self.apart)}"


def unit(rng: random.Random, number: int) -> Unit:
    """A unit with names of its own."""
    draft = Draft(rng, number, rng.choice((0.0, 0.0, 0.1, 0.3, 0.6)), [], [], [])
    run = rng.choice(_SORTS)(draft)
    return Unit(tuple(draft.lines), tuple(draft.apart), tuple(draft.imported), (run, *draft.others))


def _defined(head: str, body: list[str]) -> list[str]:
    return [head, *(f"    {line}" if line else line for line in body), ""]


def _function(
    draft: Draft, takes: str, gives: str, calls: list[Callable_], careless: float | None = None, name: str = ""
) -> tuple[list[str], Callable_]:
    """A function of tensors; ``d`` in ``takes`` is a device, ``m`` a module. Some arguments have annotations."""
    rng, scope = draft.rng, draft.scope(careless)
    name = name or draft.name(_NAMES)
    annotated = rng.random() < 0.3
    written = []
    scope.calls = list(calls)
    for kind in takes:
        if kind == "d":
            written.append("device")
            scope.devices.append("device")
            scope.used.add("device")
        elif kind == "m":
            written.append("model")
            scope.modules.append("model")
            scope.used.add("model")
        else:
            word = scope.new()
            scope.add(kind, word)
            written.append(f"{word}: torch.Tensor" if annotated else word)
    optional = "M" in takes and rng.random() < 0.3
    body: list[str] = []
    if optional:
        word = scope.new()
        written.append(f"{word}=None")
        body += [f"if {word} is None:", f"    {word} = {expression(scope, 'M', 1)}"]
        scope.add("M", word)
    body += statements(scope, rng.randint(1, 4))
    body.append("return " + ", ".join(expression(scope, kind) for kind in gives))
    result = "" if not annotated or len(gives) > 1 else " -> torch.Tensor"
    return _defined(f"def {name}({', '.join(written)}){result}:", body), Callable_(name, takes, gives)


def _helpers(draft: Draft) -> list[Callable_]:
    """Functions that the unit may call: of this file, or of the other."""
    made: list[Callable_] = []
    for _ in range(draft.rng.choice((0, 0, 1, 2))):
        takes = draft.rng.choice(("M", "MV", "MI", "I", "Vd", "d", "", "MM"))
        careless = draft.careless if draft.rng.random() < 0.5 else 0.0
        lines, call = _function(draft, takes, draft.rng.choice("MMVIB"), made, careless)
        if draft.rng.random() < 0.5 and not made:
            draft.apart += lines
            draft.imported.append(call.text)
        else:
            draft.lines += lines
        made.append(call)
        draft.others.append(_from_outside(call))
    return made


def _from_outside(call: Callable_) -> str:
    """The function as a caller uses it who has everything on the device."""
    given = ", ".join("device" if kind == "d" else f"({_INPUTS[kind]}).to(device)" for kind in call.takes)
    return f"lambda device: main.{call.text}({given})"


_INPUTS = {
    "M": "torch.randn(4, 4)",
    "V": "torch.randn(4)",
    "I": "torch.randint(0, 4, (4,))",
    "B": "torch.randn(4, 4) > 0",
    "S": "torch.randn(())",
}


def _of_callers(draft: Draft) -> str:
    """A function that others call with tensors of the device."""
    lines, call = _function(draft, draft.rng.choice(("M", "MV", "MI", "MM", "MB", "MVI")), "M", _helpers(draft))
    draft.lines += lines
    return _from_outside(call)


def _used_by_a_program(draft: Draft) -> str:
    """Functions, and one that makes what they take."""
    calls = _helpers(draft)
    lines, call = _function(draft, draft.rng.choice(("M", "MV", "MI")), "M", calls)
    draft.lines += lines
    draft.others.append(_from_outside(call))
    scope = draft.scope()
    scope.devices, scope.calls = ["device"], [*calls, call]
    scope.used.add("device")
    name = draft.name(["run", "evaluate", "infer", "simulate"])
    body = [*_inputs(scope, "MVI")]
    body += [*statements(scope, draft.rng.randint(1, 3)), f"return {expression(scope, 'M')}"]
    draft.lines += _defined(f"def {name}(device):", body)
    return f"main.{name}"


def _inputs(scope: Scope, kinds: str) -> Iterator[str]:
    """What a program has: made on its device, or moved there."""
    for kind in kinds:
        name = scope.new()
        made = _INPUTS[kind]
        if scope.rng.random() < 0.5:
            yield f"{name} = {made}"
            if not scope.forgets():
                yield f"{name} = {name}.to(device)"
        else:
            yield f"{name} = ({made})" + ("" if scope.forgets() else ".to(device)")
        scope.add(kind, name)


def _module(draft: Draft, calls: list[Callable_]) -> str:
    """A Module of tensors of many sorts. Gives its name."""
    rng, name = draft.rng, draft.name(_CLASSES)
    scope, making = draft.scope(), draft.scope(1.0)
    scope.calls = list(calls)
    scope.devices = rng.choice((["next(self.parameters()).device"], ["self.weight.device"], []))
    scope.conditions = ["self.training"]
    init = ["super().__init__()", "self.weight = nn.Parameter(torch.randn(4, 4))"]
    scope.names["M"].append("self.weight")
    for _ in range(rng.randint(1, 4)):
        kind = rng.choice("MMVVIB")
        attribute = f"{rng.choice('table scale mask anchors offset grid codes prior'.split())}{len(init)}"
        value = expression(making, kind, 1)
        if draft.rng.random() < draft.careless:
            init.append(f"self.{attribute} = {value}")
        elif kind in "MV" and rng.random() < 0.4:
            init.append(f"self.{attribute} = nn.Parameter({value})")
        else:
            init.append(f'self.register_buffer("{attribute}", {value})')
        scope.names[kind].append(f"self.{attribute}")
    init.append("self.proj = nn.Linear(4, 4)")
    scope.modules.append("self.proj")
    if rng.random() < 0.5:
        plain = scope.forgets()
        blocks = "[nn.Linear(4, 4) for _ in range(2)]"
        init.append(f"self.blocks = {blocks}" if plain else f"self.blocks = nn.ModuleList({blocks})")
        scope.modules.append("self.blocks[0]")
    if rng.random() < 0.3:
        init.append("self.table = nn.Embedding(4, 4)")
        scope.calls.append(Callable_("self.table", "I", "M"))
    methods: list[str] = []
    if rng.random() < 0.5:
        head, call = _method(draft, scope)
        methods += head
        scope.calls.append(call)
    body_scope = scope.inner()
    takes = rng.choice(("M", "M", "MI", "MB"))
    words = []
    for kind in takes:
        word = body_scope.new()
        body_scope.add(kind, word)
        words.append(word)
    # No model leaves its input alone.
    body = [f"{words[0]} = self.proj({words[0]})", *statements(body_scope, rng.randint(1, 4))]
    body.append(f"return {expression(body_scope, 'M')}")
    forward = _defined(f"def forward(self, {', '.join(words)}):", body)
    lines = [*_defined("def __init__(self):", init), *methods, *forward]
    draft.lines += _defined(f"class {name}(nn.Module):", lines)
    draft.lines.append("")
    return f"{name} {takes}"


def _method(draft: Draft, of: Scope) -> tuple[list[str], Callable_]:
    scope = of.inner()
    name, takes, gives = f"_{draft.name(_NAMES)}", draft.rng.choice(("M", "", "MI", "V")), draft.rng.choice("MMVB")
    words = ["self"]
    for kind in takes:
        word = scope.new()
        scope.add(kind, word)
        words.append(word)
    body = [*statements(scope, draft.rng.randint(0, 3)), f"return {expression(scope, gives)}"]
    return _defined(f"def {name}({', '.join(words)}):", body), Callable_(f"self.{name}", takes, gives)


def _model_called(draft: Draft) -> str:
    """A model that a program builds, moves and calls."""
    name, takes = _module(draft, _helpers(draft)).split()
    draft.others.append(_from_outside(Callable_(f"{name}().to(device)", takes, "M")))
    scope = draft.scope()
    scope.devices, scope.used = ["device"], {"device", "model"}
    run = draft.name(["run", "predict", "main"])
    body = [f"model = {name}()" + ("" if scope.forgets() else ".to(device)")]
    names = {}
    for kind in takes:
        body += _inputs(scope, kind)
        names[kind] = scope.names[kind][-1]
    body += [*statements(scope, draft.rng.randint(0, 2))]
    body.append(f"return model({', '.join(names[kind] for kind in takes)})")
    draft.lines += _defined(f"def {run}(device):", body)
    return f"main.{run}"


def _model_of_callers(draft: Draft) -> str:
    """A model of a library: others move and call it."""
    name, takes = _module(draft, _helpers(draft)).split()
    return _from_outside(Callable_(f"{name}().to(device)", takes, "M"))


def _trained(draft: Draft) -> str:
    """A training loop over batches."""
    calls = _helpers(draft)
    rng, scope = draft.rng, draft.scope()
    scope.devices, scope.calls = ["device"], list(calls)
    scope.used = {"device", "model", "optimizer", "loader", "loss"}
    scope.modules = ["model"]
    body = ["model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))"]
    body.append("model.to(device)" if rng.random() < 0.5 else "model = model.to(device)")
    body.append(f"optimizer = torch.optim.{rng.choice(('SGD', 'Adam'))}(model.parameters(), lr=0.1)")
    data = "torch.randn(8, 4), torch.randint(0, 4, (8,))"
    if rng.random() < 0.5:
        body.append(f"loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset({data}), batch_size=4)")
    else:
        body.append("loader = [(torch.randn(4, 4), torch.randint(0, 4, (4,))) for _ in range(2)]")
    inputs, labels = rng.choice((("images", "labels"), ("x", "y"), ("batch", "target"), ("inputs", "ids")))
    step = []
    for name, kind in ((inputs, "M"), (labels, "I")):
        if scope.forgets():
            step += rng.choice(([], [f"{name}.to(device)"]))
        else:
            step.append(f"{name} = {name}.to(device)")
        scope.add(kind, name)
    step += statements(scope, rng.randint(0, 3), 1)
    step.append(f"loss = F.cross_entropy(model({expression(scope, 'M', 1)}), {labels})")
    if rng.random() < 0.4:
        step.append(f"loss = loss + {expression(scope, 'S', 1)}")
    step += ["optimizer.zero_grad()", "loss.backward()", "optimizer.step()"]
    body += _defined(f"for {inputs}, {labels} in loader:", step)
    run = draft.name(["train", "fit", "train_epoch"])
    draft.lines += _defined(f"def {run}(device):", body)
    return f"main.{run}"


def _with_state(draft: Draft) -> str:
    """A class that is no Module, holds tensors and knows its device."""
    rng, name = draft.rng, draft.name(["Buffer", "Tracker", "Sampler", "Environment", "Dataset"])
    making, scope = draft.scope(), draft.scope()
    making.devices, making.used = ["device"], {"device"}
    scope.devices = ["self.device"]
    init = ["self.device = device"]
    for number, kind in enumerate(rng.choices("MVI", k=rng.randint(1, 3))):
        init.append(f"self.kept{number} = {expression(making, kind, 1)}")
        scope.names[kind].append(f"self.kept{number}")
    scope.calls = _helpers(draft)
    word = scope.new()
    scope.add("M", word)
    body = [*statements(scope, rng.randint(1, 3)), f"return {expression(scope, 'M')}"]
    lines = [*_defined("def __init__(self, device):", init), *_defined(f"def step(self, {word}):", body)]
    draft.lines += [*_defined(f"class {name}:", lines), ""]
    run = draft.name(["run", "collect"])
    user = draft.scope()
    user.devices, user.used = ["device"], {"device", "state"}
    use = [f"state = {name}(device)", *_inputs(user, "M"), f"return state.step({user.names['M'][-1]})"]
    draft.lines += _defined(f"def {run}(device):", use)
    return f"main.{run}"


_SORTS: tuple[Callable[[Draft], str], ...] = (
    _of_callers,
    _used_by_a_program,
    _model_called,
    _model_of_callers,
    _trained,
    _with_state,
)
