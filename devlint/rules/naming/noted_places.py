"""What DEV302 and DEV312 note of a file: where it names the accelerator, and what each definition does beside it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from devlint import semantics
from devlint.placement.domain.abstract_values import (
    NONE,
    Constant,
    Container,
    DeviceName,
    Instance,
    Kind,
    Module,
    Opaque,
    Tensor,
    Truth,
    innermost_of,
)
from devlint.placement.domain.events import Fate, Sink
from devlint.placement.domain.lattice import CPU, GuardKind
from devlint.placement.domain.scope import Setting
from devlint.placement.domain.value_join import holds_nothing
from devlint.placement.syntax.device_words import is_named_for_accelerator, speaks_of_devices
from devlint.placement.syntax.nodes import code_of, dotted
from devlint.repairs.bound_names import path_to
from devlint.repairs.device_expressions import Definitions
from devlint.rules.current_device import goes_to_current, is_current, round_trip
from devlint.rules.naming.accelerator_places import Definition, Place, draft_of, switches, used_by_classes
from devlint.rules.naming.device_candidates import in_use, told_to
from devlint.rules.naming.met_with_callers import MetWithCallers
from devlint.rules.naming.ways_out import speak_of_devices
from devlint.semantics.collective import collective
from devlint.source.outline import is_private
from devlint.source.role import Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import libcst as cst

    from devlint.drafts.draft import Draft
    from devlint.placement.domain.abstract_values import Value
    from devlint.placement.domain.events import (
        Begun,
        Called,
        Compared,
        Created,
        DeviceNamed,
        Moved,
        Stored,
        Tested,
        UndecidedMismatch,
    )
    from devlint.placement.domain.lattice import Decided
    from devlint.placement.domain.scope import Scope
    from devlint.rules.naming.device_candidates import Candidate

NAMED = frozenset({Sink.DEVICE, Sink.ARGUMENT, Sink.TRANSFER, Sink.DEVICE_TYPE})

HARMLESS = ("torch.cuda.amp.", "torch.cuda.empty_cache", "torch.cuda.manual_seed", "torch.cuda.max_memory")
"""Parts of `torch.cuda` that a function for any device may use as well."""


class NotedPlaces:
    """The namings of the accelerator in one file, as its events come in."""

    def __init__(self) -> None:
        self.definitions: dict[Scope, Definition] = {}
        self.begun_definitions = Definitions()
        self._elsewhere: set[int] = set()
        """Literals that stand at the top level or in a comparison."""
        self._strings: dict[int, DeviceNamed] = {}
        """By call: `.to("cuda")`, until it is known of what."""
        self._marked = False
        """All tests of the file are marked for some machines: `pytestmark = requires_cuda`."""

    def of(self, scope: Scope) -> Definition:
        return self.definitions.setdefault(scope, Definition())

    def around(self, place: Place) -> Definition | None:
        """The definition in which the lambda stands that names the accelerator; None where no lambda does."""
        at = (place.scope.path, place.scope.around)
        if place.scope.qualname == place.scope.around:
            return None
        return next((one for scope, one in self.definitions.items() if (scope.path, scope.qualname) == at), None)

    def enclosing(self, place: Place) -> Definition | None:
        """What the function that a nested one stands in chose, as the nested one sees it; None where it sees nothing.

        Only the device to which the outer one brings something itself: what it is handed need not be what the nested
        one works on. When the nested one runs, the outer one has bound all its names.
        """
        around, dot, _ = place.scope.qualname.rpartition(".")
        nested = self.definitions.get(place.scope)
        found = (
            one for scope, one in self.definitions.items() if (scope.path, scope.qualname) == (place.scope.path, around)
        )
        outer = next(found, None) if dot else None
        if outer is None or outer.begun is None or nested is None or nested.tests_device or nested.of_cuda:
            return None
        own = (
            nested.bound.union(name for name, _ in nested.begun.arguments) if nested.begun is not None else nested.bound
        )
        seen = [one for one in outer.in_use if one.chosen and one.name not in own]
        return Definition(begun=None, in_use=seen, tests_place=outer.tests_place, of_cuda=outer.of_cuda)

    def all(self) -> Iterator[tuple[Definition, Place]]:
        """Every place that is no contract of its definition, after the last event."""
        chosen = switches(self.definitions.values())
        for definition in self.definitions.values():
            for place in definition.places if not definition.sends_to_others else ():
                place.weak |= self._marked or not place.conditions.isdisjoint(
                    chosen.get(place.scope.class_name or "", ())
                )
                # Who brings something to a device there does not prepare data (fixture `processors`).
                works = bool(definition.in_use) and not is_named_for_accelerator(place.scope.qualname)
                if id(place.node) not in self._elsewhere and (works or not is_contract(place.scope)):
                    yield definition, place

    def begun(self, event: Begun) -> None:
        definition = self.of(event.scope)
        definition.begun = event
        definition.devices = frozenset(name for name, value in event.arguments if isinstance(value, DeviceName))
        self.begun_definitions.note(event)

    def stored(self, event: Stored) -> None:
        """`device = device or torch.device("cuda")`: the argument itself is filled in (fixture `filled_in`)."""
        self.begun_definitions.note_stored(event)
        if event.target == "pytestmark" and event.value_node is not None:
            self._marked |= speaks_of_devices(code_of(event.value_node))
        definition = self.definitions.get(event.scope)
        if definition is not None and event.target.isidentifier():
            definition.bound.add(event.target)
        if definition is None or definition.begun is None or event.value_node is None:
            return
        if isinstance(event.value, (Tensor, Opaque)) and is_current(event.value.device):
            # `x = x[None].cuda()`: from here on its device is the current one.
            definition.moved.append((event.target, False))
        filled_in = {event.target, _replaced(event.value_node)} & definition.devices if definition.devices else ()
        if filled_in:
            from devlint.placement.syntax.nodes import descend

            definition.filled_in.update((id(node), name) for node in descend(event.value_node) for name in filled_in)

    def tested(self, event: Tested) -> None:
        if isinstance(event.value, Truth) and event.value.about_device:
            self.of(event.scope).tests_device = True
            self.of(event.scope).tests_place |= event.value.known is None

    def created(self, event: Created) -> None:
        self._note_in_use(event.scope, in_use(event))

    def _note_in_use(self, scope: Scope, candidate: Candidate | None) -> None:
        if candidate is not None:
            self.of(scope).in_use.append(candidate)

    def compared(self, event: Compared) -> None:
        sides = (event.left, event.right)
        for side in sides if NONE not in sides else ():
            if isinstance(side, DeviceName):
                self.of(event.scope).tests_device = self.of(event.scope).tests_place = True
                self._elsewhere.add(id(side.node))

    def called(self, event: Called) -> None:
        self._note_in_use(event.scope, told_to(event))
        cuda = event.name.startswith(("torch.cuda.", "triton."))
        if cuda and not event.name.startswith(HARMLESS) and not semantics.is_device_probe(event.name):
            self.of(event.scope).of_cuda = True
        if _sends_from_the_current(event):
            self.of(event.scope).sends_to_others = True

    def device_named(self, event: DeviceNamed) -> None:
        if event.scope.setting is Setting.MODULE_LEVEL and event.sink != Sink.TRANSFER:
            self._elsewhere.add(id(event.node))
        elif event.sink in NAMED and _is_plain(event):
            if event.sink == Sink.TRANSFER and event.call is not None and event.call.node.func is not None:
                self._strings[id(event.call.node)] = event
            else:
                off = _is_switched_off(event)
                call = event.call.node if event.call is not None else None
                absent = _absent(event.arms).union(_replaced_around(event.node, self.of(event.scope).begun))
                place = Place(event.node, event.scope, event.sink, event.text, call=call, weak=off, absent=absent)
                place.bound = frozenset(self.of(event.scope).bound)
                place.in_one_arm = speak_of_devices(event.arms)
                place.written_here = call is not None and any(a.value is event.node for a in call.args)
                self.of(event.scope).places.append(place)

    def moved(self, event: Moved) -> None:
        named = self._strings.pop(id(event.node), None)
        if not event.moves:
            return
        definition = self.of(event.scope)
        self._note_in_use(event.scope, in_use(event))
        of_module = isinstance(event.receiver, Module)
        if is_current(event.target):
            definition.moved.append((event.receiver_text, of_module))
        where_available = event.guarded and _is_made_for_callers(event)
        in_place = event.fate == Fate.DISCARDED and not _is_a_tensor(event.receiver)
        if not goes_to_current(event) or (event.guarded and not where_available) or round_trip(event) is not None:
            return
        if event.fate != Fate.USED and not in_place:
            return
        if (event.method == "to" and named is None) or _is_anothers(event):
            return
        node = event.node if named is None else named.node
        text = f".{event.method}()" if named is None else named.text
        absent = _absent(event.arms)
        sides = (event.receiver_text, of_module, event)
        place = Place(node, event.scope, Sink.TRANSFER, text, *sides, absent=absent)
        if absent and isinstance(event.receiver, Tensor) and holds_nothing(event.receiver):
            return  # nobody computes with what stands for an argument that is not there
        place.where_available, place.in_place = where_available, in_place
        place.bound = frozenset(definition.bound)
        place.in_one_arm = speak_of_devices(event.arms)
        place.conditions = frozenset(decided.guard.text for decided in event.arms if decided.holds)
        place.written_here = event.named is None or event.named.node is node
        definition.places.append(place)


class NotesPlaces:
    """The handlers of the rules about such places, which report at the end of the file."""

    def __init__(self) -> None:
        self._places = NotedPlaces()
        self._met = MetWithCallers()

    def _told_beside(self) -> Iterator[tuple[Definition, Place, Draft | None]]:
        """Every place, with the draft that names what could say the device there, if anything could."""
        shared = used_by_classes(self._places.definitions.values())
        for definition, place in self._places.all():
            of_class = shared.get(place.scope.class_name or "", ())
            met = self._met.candidates(definition.begun, place.placed_by(), definition.moved)
            draft = draft_of(self._places.begun_definitions, definition, place, of_class, met)
            if draft is None and (around := self._places.around(place)) is not None:
                draft = draft_of(self._places.begun_definitions, around, place, of_class)
            if draft is None and (outer := self._places.enclosing(place)) is not None:
                draft = draft_of(self._places.begun_definitions, outer, place)
            yield definition, place, draft

    def begun(self, event: Begun) -> Iterable[Draft]:
        self._places.begun(event)
        return ()

    def stored(self, event: Stored) -> Iterable[Draft]:
        self._places.stored(event)
        return ()

    def tested(self, event: Tested) -> Iterable[Draft]:
        self._places.tested(event)
        return ()

    def created(self, event: Created) -> Iterable[Draft]:
        self._places.created(event)
        return ()

    def compared(self, event: Compared) -> Iterable[Draft]:
        self._places.compared(event)
        return ()

    def called(self, event: Called) -> Iterable[Draft]:
        self._places.called(event)
        return ()

    def device_named(self, event: DeviceNamed) -> Iterable[Draft]:
        self._places.device_named(event)
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        self._places.moved(event)
        return ()

    def undecided_mismatch(self, event: UndecidedMismatch) -> Iterable[Draft]:
        self._met.undecided_mismatch(event)
        return ()


def _is_a_tensor(value: Value) -> bool:
    return isinstance(value, Tensor) or (isinstance(value, Opaque) and value.tensorlike)


def _is_made_for_callers(event: Moved) -> bool:
    """A tensor made on the CPU goes to the accelerator because the machine has one.

    In a method of a Module, or in a function that may be handed tensors.
    """
    scope = event.scope
    function = scope.setting is Setting.FUNCTION and not (scope.is_nested or is_private(scope.qualname))
    in_use = (function or scope.setting in (Setting.FORWARD, Setting.METHOD)) and scope.role is Role.LIBRARY
    on_cpu = isinstance(event.receiver, Tensor) and event.receiver.device == CPU
    return in_use and on_cpu and not any(d.guard.kind is GuardKind.ON_ACCELERATOR for d in event.arms)


def _is_plain(event: DeviceNamed) -> bool:
    name = event.name
    if name is None or not is_current(name.device) or event.guarded or name.chosen_by_probe:
        return False
    enabled = event.call.keyword("enabled") if event.call is not None else None
    if enabled is None:
        return True
    if _is_scaler(event):
        # What a switch of the program turns on is off without an accelerator anyway (fixture `named`).
        return isinstance(enabled.value, Constant) and enabled.value.value is True
    # `torch.autocast("cuda", enabled=x.is_cuda)` is its own test (fixture `enabled_where_it_applies`).
    return not (isinstance(enabled.value, Truth) and enabled.value.about_device)


def _is_scaler(event: DeviceNamed) -> bool:
    """`torch.amp.GradScaler("cuda")`: where there is no CUDA, it warns and leaves the loss as it is."""
    return event.call is not None and (dotted(event.call.node.func) or "").rpartition(".")[2] == "GradScaler"


def _replaced(value: cst.CSTNode) -> str:
    """`device` of `device or torch.device("cuda")`; empty for other expressions."""
    import libcst as cst

    if isinstance(value, cst.BooleanOperation) and isinstance(value.operator, cst.Or):
        return value.left.value if isinstance(value.left, cst.Name) else ""
    return ""


def _replaced_around(node: cst.CSTNode, begun: Begun | None) -> Iterator[str]:
    """`device` where the node is what stands for it: ``profile(device or torch.device("cuda"))``."""
    import libcst as cst

    if begun is not None and isinstance(begun.node, cst.FunctionDef):
        for outer, inner in pairwise(path_to(begun.node, node)):
            if isinstance(outer, cst.BooleanOperation) and inner is outer.right and (name := _replaced(outer)):
                yield name


def _absent(arms: tuple[Decided, ...]) -> frozenset[str]:
    """The arguments that these conditions say are None."""
    guards = (decided.guard for decided in arms if decided.holds and decided.guard.kind is GuardKind.IS_NONE)
    return frozenset(guard.subject.name for guard in guards if guard.subject is not None)


def _sends_from_the_current(event: Called) -> bool:
    """Whether a collective is handed what is on the current accelerator: its backend may carry nothing else.

    Each process of a group has an accelerator of its own, which is the current one (fixture `sent_to_others`).
    """
    found = collective(event.name) if event.name.startswith("torch.distributed.") else None
    given = (event.call.argument(name, position) for name, position in found.tensors) if found is not None else ()
    parts = (part for one in given if one is not None for part in innermost_of(one.value))
    return any(isinstance(part, (Tensor, Opaque)) and is_current(part.device) for part in parts)


def _is_switched_off(event: DeviceNamed) -> bool:
    """`torch.autocast("cuda", enabled=False)`."""
    enabled = event.call.keyword("enabled") if event.call is not None else None
    return enabled is not None and isinstance(enabled.value, Constant) and enabled.value.value is False


def _is_anothers(event: Moved) -> bool:
    """A parameter that loses its registration is DEV202's, a list DEV204's; a class of its own has its own `cuda()`."""
    unwrapped = isinstance(event.result, Tensor) and event.result.kind is Kind.UNWRAPPED
    return unwrapped or isinstance(event.receiver, (Container, Instance))


def is_contract(scope: Scope) -> bool:
    """Named for the accelerator, or a place where data is prepared (fixture `own_contract`)."""
    return scope.setting is Setting.HOST or is_named_for_accelerator(scope.qualname)
