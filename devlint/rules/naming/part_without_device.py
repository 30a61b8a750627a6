"""A part is made without the device that the parts beside it are given.

## What it does

Finds layers and modules that are built, and tensors that are kept on `self`, without a device, in a definition that
gives its device to the others: `device=device` of its own parameter once at least, or `device=self.device` twice. So it
finds a layer without the `**factory_kwargs` that its siblings get, where those hold a device, and a tensor without a
device in a `TensorDict`, or another object that moves as a whole, beside one that is given it. And it finds a module
that an object builds and leaves on the CPU, beside one that it moves where it builds it, `Critic(n).to(self.device)`,
or in a statement of its own, or whose state it reads to its device,
`net.load_state_dict(torch.load(path, map_location=self.device))`, where nothing moves the module later:
`load_state_dict` copies.

## Why is this bad

Whoever asks for a device gets an object that is there but for one part. The first call fails, or the part is left
behind where nothing moves the rest: what was built on `meta` is materialised without it.

## Example

```python
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width: int, device: torch.device | None = None) -> None:
        super().__init__()
        self.inner = nn.Linear(width, 4 * width, device=device)
        self.outer = nn.Linear(4 * width, width)
```

## Use instead

```python
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width: int, device: torch.device | None = None) -> None:
        super().__init__()
        self.inner = nn.Linear(width, 4 * width, device=device)
        self.outer = nn.Linear(4 * width, width, device=device)
```

## When it is right

- The part holds neither parameters nor buffers.
- The definition moves the part, or all of the object, afterwards: `self.to(device)`.
- A device context is in force: `with torch.device(device):`. So it is where a loader of the package builds whatever
  model it is asked for under one: low.
- A tensor that is called `self.lengths_cpu` is kept there on purpose.
- More parts are made without the device than with it, and none of them works on an accelerator by default: low. In
  tests: low.
- A tensor of values at hand, `self.kinds = torch.tensor(kinds)`, one that is read as numbers of the host,
  `self.counts[i].item()`, or one beside layers alone: low. It may be an index or
  a number of the host, and as a parameter it moves with the others.

## Fix safety

A suggestion: the part may be meant to stay on the CPU.

## How a run confirms it

Built for an accelerator, the part meets the others.

## Known problems

A part that a helper makes is seen where it is made; what the helper is given says nothing of the parts beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint import semantics
from devlint.drafts.changes import with_argument
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import provenance_of
from devlint.drafts.wording import code_of, device_of, quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.abstract_values import Constant, Container, DeviceName, Module, Self, Tensor
from devlint.placement.domain.device_names import name_of_constant
from devlint.placement.domain.lattice import CPU, is_accelerator
from devlint.placement.domain.provenance import StepKind
from devlint.placement.domain.scope import Scope, Setting
from devlint.placement.syntax.device_words import is_kept_on_cpu_by_name
from devlint.placement.syntax.host_memory import brings_home
from devlint.placement.syntax.nodes import descend, dotted, parameters_of, positions_of
from devlint.rules.naming.parts_left_behind import (
    PartsLeftBehind,
    gets_a_placed_state,
    keeps_what_it_moves,
    moves_what_it_keeps,
)
from devlint.rules.naming.told_elsewhere import is_placed_later
from devlint.rules.rule import Rule
from devlint.rules.waking import any_of
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.call_site import CallSite
    from devlint.placement.domain.events import Begun, Called, Created, DeviceMismatch, HostRead, Moved, Stored

MOST_STEPS = 3
"""Further parts of a definition that are shown."""

_OF_DATA = ("data", "alias", "cpu")
"""Where factories make a tensor that are handed its values, by :class:`devlint.semantics.Factory`."""

_EITHER_WAY = 2
"""As many parts have to be given a device that is no parameter of the definition, so that it is no exception."""


@dataclass(slots=True)
class _Parts:
    """What one definition makes."""

    begun: Begun | None = None
    told: list[tuple[cst.CSTNode, str]] = field(default_factory=list)
    """Calls that are given a device, in the source's words."""
    bare: list[cst.CSTNode] = field(default_factory=list)
    """Calls that take one and are given none."""
    defaults: dict[int, str] = field(default_factory=dict)
    """Those whose default is an accelerator, by the identity of the node, and that default in the source's words."""
    tensors_told: bool = False
    """A tensor is among what is given a device."""
    of_data: set[int] = field(default_factory=set)
    """Tensors that are made of values at hand, by the identity of the node."""
    made: dict[int, cst.CSTNode] = field(default_factory=dict)
    """Tensors made without a device, by the identity of the node: parts where they are stored."""
    targets: dict[int, str] = field(default_factory=dict)
    """What tensors are stored in, by the identity of the node that makes them."""
    pinned: set[str] = field(default_factory=set)
    """What is stored in pinned memory in some arm: it is on the host, to be copied from there."""
    in_records: set[int] = field(default_factory=set)
    """Those of them that one object holds beside a tensor that is given a device, by the identity of the node."""
    moved: bool = False
    """`self.to(device)`: whatever the parts were given, they end there."""


class PartWithoutDevice(Rule):
    code = "DEV314"
    name = "part-without-device"
    severity = Severity.WARNING
    of_moved_modules = True
    gives_way_to = ("DEV101", "DEV308")
    wakes_at = any_of(
        created=lambda event: bool(_device_said(event.call)),
        called=lambda event: (
            gets_a_placed_state(event) or (isinstance(event.result, Module) and bool(_device_said(event.call)))
        ),
        stored=keeps_what_it_moves,
        moved=moves_what_it_keeps,
    )

    def __init__(self) -> None:
        self._parts: dict[Scope, _Parts] = {}
        self._left_behind = PartsLeftBehind()
        self._on_host: dict[str | None, set[str]] = {}
        """By class: attributes, or items of them, that are read as numbers of the host."""
        self._brought_home: dict[str | None, set[str]] = {}
        """By class: attributes that are kept on the host, `self.seen = self.seen + x.cpu()`."""

    def _of(self, scope: Scope) -> _Parts:
        return self._parts.setdefault(scope, _Parts())

    def begun(self, event: Begun) -> Iterable[Draft]:
        self._of(event.scope).begun = event
        return ()

    def called(self, event: Called) -> Iterable[Draft]:
        self._left_behind.called(event)
        made = event.result
        if semantics.transfer(event.name, "to") is not None and not event.call.keyword("device"):
            # An object that moves as a whole.
            self._note_record(self._of(event.scope), list(_held(event.call)))
        if isinstance(event.receiver, Self) and event.name in (".to", ".cuda", ".to_empty"):
            self._of(event.scope).moved = True
        step = made.provenance.step if isinstance(made, Module) and made.provenance is not None else None
        if (
            not isinstance(made, Module)
            or step is None
            or step.node is not event.node
            or step.kind is not StepKind.MADE
        ):
            return ()
        said = _device_said(event.call)
        if said:
            self._of(event.scope).told.append((event.node, said))
        elif not event.on_cpu and not event.call.unpacks and _takes_a_device(made):
            default = _default_of(made, event.call)
            if default or made.device == CPU:
                self._of(event.scope).bare.append(event.node)
            if default:
                self._of(event.scope).defaults[id(event.node)] = default
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        self._left_behind.moved(event)
        return ()

    def host_read(self, event: HostRead) -> Iterable[Draft]:
        if event.expression is not None:
            self._note_read(event.scope, event.expression)
        return ()

    def _note_read(self, scope: Scope, expression: cst.BaseExpression) -> None:
        read = dotted(_whole(expression))
        if read is not None and read.startswith("self."):
            self._on_host.setdefault(scope.class_name, set()).add(read)

    def _note_record(self, parts: _Parts, held: list[Tensor]) -> None:
        """`TensorDict({"seen": seen, "mask": torch.zeros(n)})`: what holds both is expected to be in one place."""
        told = {id(node) for node, _ in parts.told}
        made = [(one, one.provenance.first.node) for one in held if one.provenance is not None]
        if told.isdisjoint(id(node) for _, node in made):
            return
        for value, node in made:
            if value.device == CPU and parts.made.pop(id(node), None) is not None:
                parts.bare.append(node)
                parts.in_records.add(id(node))

    def device_mismatch(self, event: DeviceMismatch) -> Iterable[Draft]:
        self._left_behind.device_mismatch(event)
        return ()

    def created(self, event: Created) -> Iterable[Draft]:
        parts = self._of(event.scope)
        if event.factory.default not in _OF_DATA:
            for size in event.call.positional:
                self._note_read(event.scope, size.node)
        said = _device_said(event.call)
        if said:
            parts.told.append((event.node, said))
            parts.tensors_told = True
        elif event.named is None and not event.in_context and not event.call.unpacks and device_of(event.value) == CPU:
            parts.made[id(event.node)] = event.node
            if event.factory.default in _OF_DATA:
                parts.of_data.add(id(event.node))
        return ()

    def stored(self, event: Stored) -> Iterable[Draft]:
        self._left_behind.stored(event)
        if event.value_node is not None and any(map(brings_home, descend(event.value_node))):
            self._brought_home.setdefault(event.scope.class_name, set()).add(event.target)
        provenance = provenance_of(event.value)
        if isinstance(event.owner, Self) and isinstance(event.value, Tensor) and provenance is not None:
            parts = self._of(event.scope)
            node = parts.made.pop(id(provenance.first.node), None)
            if event.value.pinned:
                parts.pinned.add(event.target)
            elif node is not None:
                parts.bare.append(node)
                parts.targets[id(node)] = event.target
        return ()

    def finish(self) -> Iterable[Draft]:
        yield from self._left_behind.drafts()
        for scope, parts in self._parts.items():
            if parts.moved:
                # What another object holds stays where it is.
                parts.bare = [node for node in parts.bare if id(node) in parts.in_records]
            home = self._brought_home.get(scope.class_name, ())
            parts.bare = [node for node in parts.bare if parts.targets.get(id(node)) not in home]
            if parts.told and parts.bare and parts.begun is not None and scope.setting is not Setting.HOST:
                yield from _drafts(scope, parts, parts.begun, self._on_host.get(scope.class_name, ()))


def _drafts(scope: Scope, parts: _Parts, begun: Begun, on_host: Collection[str]) -> Iterator[Draft]:
    """``on_host``: what methods of the class read as numbers."""
    import libcst as cst

    definition = begun.node
    if not isinstance(definition, cst.FunctionDef):
        return
    (said, _), *_ = Counter(text for _, text in parts.told).most_common(1)
    told = [node for node, text in parts.told if text == said]
    own = {parameter.name.value for parameter in parameters_of(definition)}
    if said not in own and not said.startswith("**") and len(told) < _EITHER_WAY and not parts.in_records:
        return
    bare = [node for node in parts.bare if parts.targets.get(id(node)) not in parts.pinned]
    bare = [node for node in bare if not is_kept_on_cpu_by_name(parts.targets.get(id(node), ""))]
    bare = [node for node in bare if not is_placed_later(definition, node, given_back=id(node) not in parts.in_records)]
    if not bare:
        return

    def is_alone(part: cst.CSTNode) -> bool:
        """A tensor of values of the host, or read as such, or beside layers: no like of it is given a device."""
        is_tensor = id(part) in parts.targets or id(part) in parts.in_records
        counts = parts.targets.get(id(part)) in on_host
        return is_tensor and (counts or id(part) in parts.of_data or not parts.tensors_told)

    # What works on an accelerator unless it is told is never meant to stay behind.
    bare.sort(key=lambda node: (id(node) not in parts.defaults, is_alone(node)))
    node, *others = bare
    default = parts.defaults.get(id(node), "")
    low = is_alone(node) or scope.role in (Role.TEST, Role.BENCHMARK) or (len(bare) > len(told) and not default)
    yield Draft(
        node=node,
        scope=scope,
        message=f"{quoted(node, 'this part')} is made without a device, and {quoted(told[0], 'the one beside it')} "
        f"is given `{said}`: it {f'works on {default}, its default' if default else 'stays on the CPU'}",
        confidence=Confidence.LOW if low else Confidence.MEDIUM,
        trace=(
            DraftStep(told[0], scope, f"`{said}` is said here"),
            *(DraftStep(other, scope, "and left out here as well") for other in others[:MOST_STEPS]),
        ),
        repair=Repair(
            Applicability.SUGGESTION,
            f"give it as well: `{said if said.startswith('**') else f'device={said}'}`",
            () if said.startswith("**") else tuple(c for part in bare for c in with_argument(part, "device", said)),
        ),
    )


def _whole(node: cst.BaseExpression) -> cst.BaseExpression:
    """``self.counts`` of ``self.counts[level]``."""
    import libcst as cst

    while isinstance(node, cst.Subscript):
        node = node.value
    return node


def _device_said(call: CallSite) -> str:
    """The device that a call hands on, in the words of the source: `device=x`, `device`, `**kwargs`; no literal."""
    written = [one.value for one in call.node.args if one.keyword is not None and one.keyword.value == "device"]
    if written:
        return dotted(written[0]) or ""
    by_position = [one.node for one in call.positional if isinstance(one.value, DeviceName)]
    if by_position and dotted(by_position[0]):
        return dotted(by_position[0]) or ""
    # Of a dict at hand the call has the items as keywords.
    unpacked = [f"**{code_of(one.value)}" for one in call.node.args if one.star == "**"]
    return unpacked[0] if unpacked and call.keyword("device") is not None else ""


def _held(call: CallSite) -> Iterator[Tensor]:
    """The tensors that an object is made of: the values of a dict that it is handed, and what keywords name."""
    for argument in call.arguments:
        value = argument.value
        items = value.values if isinstance(value, Container) and value.keys is not None else ()
        yield from (one for one in (*items, *((value,) if argument.keyword else ())) if isinstance(one, Tensor))


def _is_made_by(node: cst.CSTNode, made: Module) -> bool:
    step = made.provenance.step if made.provenance is not None else None
    return step is not None and step.node is node and step.kind is StepKind.MADE


def _default_of(made: Module, call: CallSite) -> str:
    """The accelerator that a module of the project works on where the call says no other: ``device="cuda"``."""
    init = made.info.method("__init__") if made.info is not None else None
    for position, parameter in positions_of(init.header, bound=True) if init is not None else ():
        if call.argument(parameter.name.value, position) is not None:
            continue
        if parameter.name.value == "device" and parameter.default is not None:
            code = code_of(parameter.default)
            named = name_of_constant(Constant(code.strip("\"'"), parameter.default)) if code[0] in "\"'" else None
            return f"`{code}`" if named is not None and is_accelerator(named.device) else ""
    return ""


def _takes_a_device(made: Module) -> bool:
    """A layer of `torch.nn` with state of its own, or a module of the project whose constructor has a `device`."""
    if made.info is not None:
        init = made.info.method("__init__")
        optional = (p for p in parameters_of(init.header) if p.default is not None) if init is not None else ()
        return made.holds_state is not False and any(parameter.name.value == "device" for parameter in optional)
    known = semantics.module(made.type_name)
    return known is not None and made.holds_state is True and not known.container and not known.loss
