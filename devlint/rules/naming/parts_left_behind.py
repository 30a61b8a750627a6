"""Modules that an object builds and leaves on the CPU, beside others that it moves when it builds them: part of DEV314.

Or whose state it reads to its device, which moves nothing: `load_state_dict` copies. Nobody moves an object that is no
Module: what its constructor leaves behind is left behind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from devlint.drafts.changes import suffixed
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import provenance_of
from devlint.drafts.wording import code_of, quoted
from devlint.finding import Applicability, Confidence
from devlint.placement.declarations.known_classes import ClassKind
from devlint.placement.domain.abstract_values import Module, Opaque, Self
from devlint.placement.domain.events import Fate
from devlint.placement.domain.lattice import CPU, UNKNOWN, describe, exclude, is_set_as_device
from devlint.placement.domain.provenance import StepKind
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.nodes import descend, path_of
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.declarations.definitions import ClassInfo
    from devlint.placement.domain.events import Called, DeviceMismatch, Moved, Stored
    from devlint.placement.domain.lattice import Decided
    from devlint.placement.domain.scope import Scope

_MOVES = frozenset({"to", "cuda", "cpu", "to_empty", "share_memory", "xpu", "npu", "mps"})
_READING = frozenset({"deepcopy", "copy", "print", "len", "repr", "str", "isinstance", "hasattr", "id", "type"})
"""Functions that move nothing of what they are handed."""
_ON_PURPOSE = frozenset({"cpu", "host", "local", "worker", "shared"})
"""Words in the name of what belongs on the CPU."""


@dataclass(frozen=True, slots=True)
class _Built:
    event: Stored
    name: str
    """The attribute, with `self`."""
    owner: ClassInfo
    made: cst.CSTNode
    """The call that makes the module."""


class _Moved(NamedTuple):
    """A module that the constructor moves, where it is built or in a statement of its own."""

    name: str
    scope: Scope
    arms: tuple[Decided, ...]
    node: cst.CSTNode
    transfer: str
    """``.to(device)``; empty where the module was moved in between."""


@dataclass(slots=True)
class PartsLeftBehind:
    """The modules that the objects of one file build and keep."""

    _left: list[_Built] = field(default_factory=list)
    _moved: list[_Moved] = field(default_factory=list)
    _moved_names: set[str] = field(default_factory=set)
    """Names of attributes of which the file moves one from outside, of whatever object."""

    _loaded: dict[int, Called] = field(default_factory=dict)
    """By the identity of the call that makes a module: where it gets a state that was read to a device."""
    _clashed: set[int] = field(default_factory=set)
    """What makes a module whose call a clash was seen of, by the identity of the node: a finding of another rule."""

    def device_mismatch(self, event: DeviceMismatch) -> None:
        for operand in (event.offending, event.other):
            self._clashed.update(id(step.node) for step in provenance_of(operand.value) or ())

    def called(self, event: Called) -> None:
        import libcst as cst

        if gets_a_placed_state(event) and (made := _making(event.receiver)) is not None:
            self._loaded.setdefault(id(made), event)
        moves = event.name.lstrip(".") in _MOVES
        if moves and isinstance(function := event.call.node.func, cst.Attribute):
            receiver = code_of(function.value)
            if not receiver.startswith("self."):
                self._moved_names.add(receiver.rpartition(".")[2])

    def moved(self, event: Moved) -> None:
        """``self.net.to(device)``, ``for net in self.nets: net.to(device)`` in the constructor."""
        if moves_what_it_keeps(event) and not event.guarded:
            transfer = code_of(event.call.node)[len(code_of(event.receiver_node)) :]
            self._moved.append(_Moved(event.receiver_text, event.scope, event.arms, event.node, transfer))

    def stored(self, event: Stored) -> None:
        import libcst as cst

        owner, made = event.owner, event.value
        if not isinstance(owner, Self) or owner.info.kind is not ClassKind.PLAIN or event.attribute is None:
            return
        if not isinstance(made, Module) or made.holds_state is not True or made.provenance is None:
            return
        first, last = made.provenance.first, made.provenance.step
        if first.kind is not StepKind.MADE or first.scope != event.scope or event.scope.setting is Setting.HOST:
            return
        built = _Built(event, event.target, owner.info, first.node)
        if last.kind is StepKind.MOVED and is_set_as_device(made.device):
            node = event.value_node
            called = node.func if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) else None
            transfer = code_of(node)[len(code_of(called.value)) :] if node is not None and called is not None else ""
            self._moved.append(_Moved(event.target, event.scope, event.arms, event.node, transfer))
        elif last is first and made.device == CPU:
            self._left.append(built)

    def drafts(self) -> Iterator[Draft]:
        for part in self._left:
            as_built = part.made is part.event.value_node
            beside = [one for one in self._moved if as_built and _is_beside(one, part)]
            moved = {one.name for one in beside}
            left = [one for one in self._left if one.event.scope == part.event.scope and one.name not in moved]
            loaded = self._loaded.get(id(part.made))
            attribute = part.name.rpartition(".")[2]
            if not (beside or loaded) or id(part.made) in self._clashed or self._is_named_otherwise(attribute):
                continue
            if any(_is_placed(one, part, moved) for one in part.owner.order):
                continue
            tried = part.event.scope.role in (Role.TEST, Role.BENCHMARK)
            if beside:
                yield _draft(part, beside[0], Confidence.LOW if tried or len(left) > len(beside) else Confidence.MEDIUM)
            elif loaded is not None:
                yield _draft_of_loaded(part, loaded, Confidence.LOW if tried else Confidence.MEDIUM)

    def _is_named_otherwise(self, attribute: str) -> bool:
        """Whether others move what objects keep under that name, or it says that it belongs on the CPU."""
        return attribute in self._moved_names or not _ON_PURPOSE.isdisjoint(attribute.lower().split("_"))


def gets_a_placed_state(event: Called) -> bool:
    """``self.net.load_state_dict(torch.load(path, map_location=self.device))``: a module on the CPU gets it."""
    module, given = event.receiver, event.call.argument("state_dict", 0)
    if event.name != ".load_state_dict" or not isinstance(module, Module) or module.device != CPU or given is None:
        return False
    return isinstance(given.value, Opaque) and is_set_as_device(given.value.device)


def _making(module: object) -> cst.CSTNode | None:
    """The call that makes a module, if nothing has been done with that since."""
    provenance = module.provenance if isinstance(module, Module) else None
    return provenance.step.node if provenance is not None and provenance.step.kind is StepKind.MADE else None


def keeps_what_it_moves(event: Stored) -> bool:
    """``self.net = Net().to(device)``: beside it another may be left."""
    value = event.value
    if not isinstance(value, Module) or not isinstance(event.owner, Self) or value.provenance is None:
        return False
    return value.provenance.step.kind is StepKind.MOVED


def moves_what_it_keeps(event: Moved) -> bool:
    """Whether a constructor moves, in a statement of its own, what it has built before and keeps on the object."""
    if event.scope.setting is not Setting.CONSTRUCTION or event.fate != Fate.DISCARDED or not event.moves:
        return False
    made = event.receiver.provenance if isinstance(event.receiver, Module) else None
    if made is None or made.first.kind is not StepKind.MADE or made.first.scope != event.scope:
        return False
    return is_set_as_device(event.target)


def _is_beside(moved: _Moved, left: _Built) -> bool:
    if moved.scope != left.event.scope or moved.name == left.name:
        return False
    return not exclude(moved.arms, left.event.arms)


def _is_placed(owner: ClassInfo, part: _Built, others: set[str]) -> bool:
    """Whether some method may move the part: it hands it on, and not those as well that are moved by themselves."""
    name = part.name
    attribute = name.rpartition(".")[2]
    handed: dict[str, set[str]] = {}
    for method in owner.methods.values():
        if attribute not in method.own.mentioned and not {"getattr", "vars", "__dict__"} & set(method.own.mentioned):
            continue
        for node in descend(method.node.body):
            if _gives_away(node, part, own=owner is part.owner):
                return True
            for callee, argument in _handed(node):
                handed.setdefault(callee, set()).add(argument)
    return any(name in given and given.isdisjoint(others) for given in handed.values())


def _gives_away(node: cst.CSTNode, part: _Built, own: bool) -> bool:
    """``self.net.cuda()``, ``nets = [self.net]``, ``return self.net``, ``net = self.net``, ``getattr(self, name)``."""
    import libcst as cst

    name = part.name
    match node:
        case cst.Element(value=value) | cst.DictElement(value=value) | cst.Return(value=value):
            return value is not None and path_of(value) == name
        case cst.Assign(targets=targets, value=value):
            anew = own and value is not part.event.value_node and any(path_of(one.target) == name for one in targets)
            return path_of(value) == name or anew
        case cst.Call(args=[cst.Arg(value=cst.SimpleString(value='"meta"' | "'meta'"))]):
            return False  # it gives the memory back
        case cst.Call(func=cst.Attribute(value=receiver, attr=cst.Name(value=method))) if method in _MOVES:
            return path_of(receiver) == name
        case cst.Call(func=cst.Name(value="getattr" | "vars"), args=[cst.Arg(value=cst.Name(value="self")), *_]):
            return True
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value="__dict__")):
            return True
    return False


def _handed(node: cst.CSTNode) -> Iterator[tuple[str, str]]:
    """The attributes that a call is handed as they stand, each with the callee in the source's words."""
    import libcst as cst

    if isinstance(node, cst.Call):
        callee = code_of(node.func)
        if callee.rpartition(".")[2] not in _READING:
            yield from ((callee, path) for one in node.args if (path := path_of(one.value)) is not None)


def _draft_of_loaded(part: _Built, loaded: Called, confidence: Confidence) -> Draft:
    given = loaded.call.argument("state_dict", 0)
    device = describe(getattr(given.value, "device", UNKNOWN)) if given is not None else "its device"
    return Draft(
        node=loaded.node,
        scope=loaded.scope,
        message=f"`load_state_dict` copies the state into the module in `{part.name}`, which stays on the CPU: that "
        f"the state was read to {device} does not move it",
        confidence=confidence,
        trace=(DraftStep(part.made, part.event.scope, "it is made here", "cpu"),),
        repair=Repair(Applicability.SUGGESTION, f"move the module as well: `{part.name}.to(...)`"),
    )


def _draft(part: _Built, beside: _Moved, confidence: Confidence) -> Draft:
    node, transfer, scope = part.event.value_node, beside.transfer, part.event.scope
    assert node is not None
    return Draft(
        node=node,
        scope=scope,
        message=f"{quoted(node, f'the module in `{part.name}`')} is left on the CPU, and `{beside.name}` beside it is "
        f"moved in the constructor{f', by `{transfer}`' if transfer else ''}",
        confidence=confidence,
        trace=(DraftStep(beside.node, scope, "it is moved here"),),
        repair=Repair(
            Applicability.SUGGESTION,
            f"move it as well: `{transfer}`" if transfer else "move it as well",
            suffixed(node, transfer) if transfer else (),
        ),
    )
