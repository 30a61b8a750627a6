"""Results that are left on the CPU: what `forward`, or a method in its place, hands back is expected beside its inputs.

So is what any function makes with the dtype of its argument, or a function of a library in its size. This is the part
of DEV101 for which no operation fails in the code at hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import libcst as cst

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import provenance_of
from devlint.drafts.wording import bare_creation, other_creations, quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.declarations.forward_like_methods import stands_for_forward
from devlint.placement.declarations.known_classes import ClassKind
from devlint.placement.domain.abstract_values import Host, Module, Opaque, Tensor, Value
from devlint.placement.domain.lattice import CPU, SameAs, is_of_parameter, leaves
from devlint.placement.domain.provenance import Step, StepKind
from devlint.placement.domain.scope import Scope, Setting
from devlint.placement.syntax.device_words import is_named_for_host
from devlint.placement.syntax.host_memory import brings_home, may_be_pinned
from devlint.placement.syntax.sizes import named_sizes, sized_by
from devlint.repairs.device_expressions import Definitions, repair_creation
from devlint.rules.creating.copied_parts import is_made_for, is_of_many
from devlint.rules.creating.empty_results import is_made_of_nothing
from devlint.rules.creating.parts_of_results import parts_of
from devlint.semantics import Dim, DType
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import ClassInfo
    from devlint.placement.domain.events import Begun, Called, Created, HostRead, Returned, Stored, WrittenByIndex


@dataclass(slots=True)
class HandedOut:
    """What the methods of one file hand back. A method that takes no tensor has no place to return to."""

    definitions: Definitions
    _instead: set[str] = field(default_factory=set)
    """Methods that stand for `forward`."""
    _placed: set[str] = field(default_factory=set)
    """Definitions seen working on tensors that the caller placed."""
    _nodes: dict[str, cst.CSTNode] = field(default_factory=dict)
    """Each definition's own node."""
    _sized: set[int] = field(default_factory=set)
    """Creations of which a size alone says where they are expected, by node."""
    _written: set[int] = field(default_factory=set)
    """Creations into which items are written, by node."""
    _collecting: set[int] = field(default_factory=set)
    """Creations into which items are written that were brought to the CPU for it: they are meant to be there."""
    _called: set[str] = field(default_factory=set)
    """Names of what the file calls."""
    _given: dict[str, frozenset[str]] = field(default_factory=dict)
    """The arguments of each definition that are tensors which the caller placed."""
    _taken: dict[str, frozenset[str]] = field(default_factory=dict)
    """All arguments of each definition."""
    _inputs_to_cpu: set[str] = field(default_factory=set)
    """Definitions that take what the caller placed to the CPU, for numpy."""
    _filled: dict[int, str] = field(default_factory=dict)
    """Creations on the CPU that are filled with what is computed of an argument, by node, and the argument's name."""
    _copied: dict[int, str] = field(default_factory=dict)
    """Creations on the CPU in the size or with the dtype of an argument, into which a part of it is copied, by node."""
    _chosen: dict[int, str] = field(default_factory=dict)
    """Creations on the CPU of which an index that follows an argument says the items to write, and its name."""
    _drafts: list[tuple[Scope, int, Draft]] = field(default_factory=list)
    """Each with its place in what is returned."""
    _beside: set[tuple[str, int]] = field(default_factory=set)
    """Definitions, each with a place in what it returns where some return has a tensor that is where an argument is."""
    _of_arrays: set[int] = field(default_factory=set)
    """Creations from an array, by node."""
    _built: set[str] = field(default_factory=set)
    """Classes that the file builds itself: what becomes of their results is seen at the calls."""

    _by_hand: set[str] = field(default_factory=set)
    """Steps of a LightningModule that optimises by itself: nothing is done with what they return."""
    _gradients: set[str] = field(default_factory=set)
    """Methods that give autograd the gradients of what `forward` was given, and each has to be where that is."""

    def begun(self, event: Begun) -> None:
        method = event.scope.qualname
        if method.endswith(".training_step") and event.owner is not None and _optimises_by_hand(event.owner):
            self._by_hand.add(method)
        if event.owner is not None and event.owner.kind is ClassKind.AUTOGRAD and method.endswith(".backward"):
            self._gradients.add(method)
            self._placed.add(method)
        self._nodes[method] = event.node
        if event.scope.setting is Setting.METHOD and stands_for_forward(event.owner, method.rsplit(".", 1)[-1]):
            self._instead.add(method)
        given = [name for name, value in event.arguments if isinstance(value, Tensor) and movable(value)]
        self._given[method] = frozenset(given)
        self._taken[method] = frozenset(name for name, _ in event.arguments)
        if given:
            self._placed.add(method)

    def created(self, event: Created) -> None:
        data = event.call.positional[0].value if event.call.positional else None
        if isinstance(data, Host) and data.numpy:
            self._of_arrays.add(id(event.node))

    def called(self, event: Called) -> None:
        self._called.add(event.name.rpartition(".")[2])
        if isinstance(event.result, Module) and event.result.info is not None:
            self._built.add(event.result.info.qualname)
        if event.scope.qualname in self._placed:
            return
        arguments = [argument.value for argument in event.call.arguments]
        values = [event.receiver, event.result, *arguments]
        if event.scope.setting is not Setting.FORWARD:
            # Any of the arguments may be a number; what has methods or a length may hold tensors.
            tensors = [value for value in values if isinstance(value, Tensor)]
            values = [event.receiver, *tensors, *(arguments if event.name == "len" else ())]
        if any(movable(value) for value in values):
            self._placed.add(event.scope.qualname)

    def stored(self, event: Stored) -> None:
        """``found[i, j] = x[i].mean()``: slices and numbers are copied over, one by one, from the argument's device."""
        owner, value = event.owner, event.value
        added_to = bare_creation(value) if owner is None and isinstance(value, Tensor) and value.device == CPU else None
        step = bare_creation(owner) if isinstance(owner, Tensor) and owner.device == CPU else None
        collects = step or added_to
        if collects is not None and brings_home(event.value_node):
            self._collecting.add(id(collects.node))
        if step is None or step.scope != event.scope:
            return
        self._written.add(id(step.node))
        computed = not isinstance(event.value_node, (cst.Name, cst.Subscript, cst.Attribute))
        name = self._followed(value, event.scope)
        if not name or event.callers_on_cpu:
            return
        if computed:
            self._filled[id(step.node)] = name
        elif is_of_many(event.node) and is_made_for(name, step, self._nodes[step.scope.qualname]):
            self._copied[id(step.node)] = name

    def written_by_index(self, event: WrittenByIndex) -> None:
        """``weights[labels == 0] = 2``: the mask is copied to the CPU; the caller has nothing else there."""
        step = bare_creation(event.owner) if event.owner.device == CPU else None
        name = self._chosen_by(event.index, event.scope)
        if step is not None and step.scope == event.scope and name and not event.callers_on_cpu:
            self._chosen[id(step.node)] = name

    def _chosen_by(self, index: Value, scope: Scope) -> str:
        """The argument that an index follows, in one arm at least: an array in the other one is on the CPU itself."""
        arms = leaves(index.device) if isinstance(index, Tensor) else ()
        names = {arm.symbol.name for arm in arms if is_of_parameter(arm)}
        only = len(names) == 1 and all(arm == CPU or is_of_parameter(arm) for arm in arms)
        return names.pop() if only and names <= self._taken.get(scope.qualname, frozenset()) else ""

    def _followed(self, value: Value, scope: Scope) -> str:
        """The argument that a tensor is beside, where the caller says the place of that; else nothing."""
        device = value.device if isinstance(value, Tensor) else None
        name = device.symbol.name if is_of_parameter(device) else ""
        return name if name in self._given.get(scope.qualname, ()) else ""

    def host_read(self, event: HostRead) -> None:
        if event.wants_cpu and _came_home(event.value):
            self._inputs_to_cpu.add(event.scope.qualname)

    def returned(self, event: Returned) -> None:
        scope = event.scope
        if scope.qualname in self._by_hand:
            return
        if scope.role is Role.TEST or scope.setting in (Setting.HOST, Setting.CONSTRUCTION, Setting.MODULE_LEVEL):
            return
        method = scope.qualname.rpartition(".")[2]
        # What is nested works for the function around it (fixture `nested_for_the_host`).
        around = scope.qualname.split(".") if scope.is_nested else (method,)
        if any(map(is_named_for_host, around)):
            return
        gradients = scope.qualname in self._gradients
        in_place_of_forward = gradients or scope.setting is Setting.FORWARD or scope.qualname in self._instead
        parts = tuple(parts_of(event.value, several=gradients))
        for place, value in enumerate(parts):
            step = bare_creation(value)
            if movable(value):
                self._beside.add((scope.qualname, place))
            if step is None or not isinstance(value, Tensor) or CPU not in leaves(value.device):
                continue
            if may_be_pinned(step.node):
                continue
            written = {**self._chosen, **self._copied, **self._filled}
            filled = [s for s in (step, *other_creations(value)) if id(s.node) in written]
            if filled and scope.qualname not in self._inputs_to_cpu and not event.settled_by_callers:
                self._drafts += ((scope, place, self._filled_of_argument(s, event)) for s in filled)
                continue
            if value.device != CPU or _may_be_scalar(value, step):
                continue
            if value.provenance is not None and value.provenance.find(StepKind.STORED, StepKind.DISCARDED):
                # A transfer that is thrown away is reported for itself.
                continue
            like = self._made_like(step, scope)
            from_host = self._answers_from_host(step, scope)
            told = in_place_of_forward or like is not None or from_host
            # `return rows[order], order`: an order indexes rows anywhere (fixture `handed_out_in_records`).
            told = told or (value.dtype is not DType.OTHER and len(parts) > 1)
            sized = None if told else self._sized_like(event, step)
            if not in_place_of_forward and like is None and not from_host and sized is None:
                continue
            name = quoted(step.node, f"`{step.name}`")
            beside = f" with the dtype of `{like}`, not on its device," if like is not None else ""
            if sized is not None:
                self._sized.add(id(step.node))
                beside = f" in the size of `{sized}`, not on its device,"
            # What holds nothing stands for nothing (fixture `placeholders_handed_out`), and beside an array a function
            # hands out what is of the host (fixture `beside_arrays_handed_out`).
            for_host = is_made_of_nothing(step) or (from_host and any(map(_is_array, parts)))
            for_host = for_host or id(step.node) in self._collecting  # fixture `brought_item_by_item`
            answered = from_host and not in_place_of_forward and sized is None and like is None
            goes_on_there = answered and self._goes_on_there(step)
            if from_host and not in_place_of_forward:
                beside = ", as the argument that was brought there with `.cpu()`,"
            draft = Draft(
                node=step.node,
                scope=step.scope,
                severity=Severity.WARNING,
                message=f"{name} is created on the CPU{beside} and returned from `{method}`; on an accelerator "
                + (_REFUSED if gradients else "the caller gets a CPU tensor where it expects one beside its inputs"),
                confidence=Confidence.LOW if goes_on_there or for_host else self._confidence(step, scope),
                trace=(DraftStep(step.node, step.scope, "made here", "cpu"),
                       DraftStep(event.node, scope, "returned here")),
                repair=_HERE if goes_on_there else self._repair(step),
            )  # fmt: skip
            self._drafts.append((scope, place, draft))

    def _filled_of_argument(self, step: Step, event: Returned) -> Draft:
        how, cost = self._how_filled(step)
        method = event.scope.qualname.rsplit(".", 1)[-1]
        return Draft(
            node=step.node,
            scope=step.scope,
            severity=Severity.WARNING,
            message=f"{quoted(step.node, f'`{step.name}`')} is created on the CPU and {how}, "
            f"and `{method}` hands the result back; on an accelerator {cost} and the caller gets a CPU tensor",
            confidence=Confidence.LOW if step.scope.role is not Role.LIBRARY else Confidence.MEDIUM,
            trace=(DraftStep(step.node, step.scope, "made here", "cpu"),
                   DraftStep(event.node, event.scope, "returned here")),
            repair=self._repair(step),
        )  # fmt: skip

    def _how_filled(self, step: Step) -> tuple[str, str]:
        """How it gets its items, and what that costs."""
        node = id(step.node)
        if node in self._filled:
            return f"filled with what is computed of `{self._filled[node]}`", "each item is a transfer"
        if node in self._copied:
            return f"filled with a part of `{self._copied[node]}`", "that is a transfer"
        return f"written where `{self._chosen[node]}` says", "the index is brought over"

    def _made_like(self, step: Step, scope: Scope) -> str | None:
        """The argument whose dtype, and not whose device, the creation takes: ``torch.empty(n, dtype=x.dtype)``."""
        if step.scope != scope or not isinstance(step.node, cst.Call):
            return None
        for argument in step.node.args:
            dtype = argument.value if argument.keyword is not None and argument.keyword.value == "dtype" else None
            if isinstance(dtype, cst.Attribute) and dtype.attr.value == "dtype" and isinstance(dtype.value, cst.Name):
                name = dtype.value.value
                if name not in self._given.get(scope.qualname, ()):
                    return None
                expression = self.definitions.argument(scope, name, step.node)
                kept = expression is not None and expression.applicability is not Applicability.SUGGESTION
                return name if kept else None  # a name that is bound anew may be anywhere
        return None

    def _sized_like(self, event: Returned, step: Step) -> str | None:
        """The argument in whose size a function of a library makes what it returns: ``torch.zeros(x.shape[0], 4)``.

        Where the callers are all known, the calls tell.
        """
        scope = event.scope
        given = self._given.get(scope.qualname, frozenset())
        of_library = scope.role is Role.LIBRARY and scope.setting in (Setting.FUNCTION, Setting.METHOD)
        if not given or not of_library or step.scope != scope or not isinstance(step.node, cst.Call):
            return None
        if event.settled_by_callers or event.guarded:
            return None
        sizes = named_sizes(self._nodes[scope.qualname])
        for argument in step.node.args:
            for name in sized_by(argument.value, sizes):
                if name in given:
                    expression = self.definitions.argument(scope, name, step.node)
                    kept = expression is not None and expression.applicability is not Applicability.SUGGESTION
                    return name if kept else None
        return None

    def _answers_from_host(self, step: Step, scope: Scope) -> bool:
        """A function of a library brings its arguments to the CPU for numpy, and makes what it returns there as well.

        The ``.cpu()`` says that they are expected elsewhere, and so is the answer. An array that only becomes a tensor,
        as by ``from_numpy``, is for those who work on the host all the way (fixture `host_round_trips`).
        """
        if step.factory is None or not (step.factory.takes_device or step.factory.legacy):
            return False
        given = scope.setting in (Setting.FUNCTION, Setting.METHOD) and scope.role is Role.LIBRARY
        return given and scope.qualname in self._inputs_to_cpu and step.scope == scope

    def _goes_on_there(self, step: Step) -> bool:
        """An array, or a map that is filled on the host: who asks for one works with arrays, as a rule.

        So does who joins arrays with what was empty at first (fixture `collected_on_the_host`).

        A list of what was found there is for the tensors that it was found in (fixture `answers_from_the_host`).
        """
        made_in_size = step.factory is not None and step.factory.default == "default_device"
        return made_in_size or id(step.node) in self._of_arrays or _starts_empty(step.node)

    def _repair(self, step: Step) -> Repair:
        expression = self.definitions.first_tensor(step.scope, step.node)
        if expression is None:
            return _HERE
        return repair_creation(step, expression)

    def finish(self) -> Iterator[Draft]:
        for scope, place, draft in self._drafts:
            if id(draft.node) in self._sized and self._is_told_otherwise(scope, place, draft.node):
                continue
            if scope.qualname in self._placed or scope.qualname in self._inputs_to_cpu:
                # What becomes of it is seen at the calls; not so if it is elsewhere whenever another return gives it.
                seen = scope.class_name in self._built and (scope.qualname, place) not in self._beside
                yield replace(draft, confidence=Confidence.LOW) if seen else draft

    def _is_told_otherwise(self, scope: Scope, place: int, creation: cst.CSTNode) -> bool:
        """Whether something else says more of what is made in a size: a call, another return, what is written into it.

        Numbers may be collected on the CPU; DEV407 compares returns.
        """
        name = scope.qualname.rpartition(".")[2]
        return name in self._called or (scope.qualname, place) in self._beside or id(creation) in self._written

    def _confidence(self, step: Step, scope: Scope) -> Confidence:
        """Made of an array: the computation before it ran on the CPU, unless the method brought it there.

        Where the caller's tensor became that array by ``.numpy()`` alone, an accelerator never got this far.
        """
        if scope.qualname.rsplit(".", 1)[-1].startswith("_"):
            # A step of an inherited `forward`, which may take it for an index or read it on the host.
            return Confidence.LOW
        takes_arrays_alone = step.factory is not None and not step.factory.takes_device
        reads_host_data = takes_arrays_alone or id(step.node) in self._of_arrays
        return Confidence.LOW if reads_host_data and scope.qualname not in self._inputs_to_cpu else Confidence.MEDIUM


_REFUSED = "autograd refuses a gradient that is not where its input is"
_HERE = Repair(Applicability.SUGGESTION, "create it on the inputs' device")


def movable(value: Value | None) -> bool:
    """Whether the caller decides where the value is."""
    return isinstance(value, (Tensor, Opaque)) and any(isinstance(leaf, SameAs) for leaf in leaves(value.device))


def _is_array(value: Value) -> bool:
    return isinstance(value, Host) and value.numpy


def _starts_empty(node: cst.CSTNode) -> bool:
    """``torch.Tensor()``, ``torch.tensor([])``."""
    given = [argument.value for argument in node.args if argument.keyword is None] if isinstance(node, cst.Call) else []
    return isinstance(node, cst.Call) and all(isinstance(one, cst.List) and not one.elements for one in given)


def _optimises_by_hand(owner: ClassInfo) -> bool:
    """Whether a constructor says ``self.automatic_optimization = False``."""
    stored = (one.stored_expressions.get("automatic_optimization", ()) for one in owner.constructors)
    return any(isinstance(value, cst.Name) and value.value == "False" for values in stored for value in values)


def _may_be_scalar(value: Tensor, step: Step) -> bool:
    """What was made in a size and squeezed since keeps a dimension for some input; other data may have none."""
    made_in_size = step.factory is not None and step.factory.default == "default_device"
    return value.dim is Dim.ZERO or (value.dim is Dim.UNKNOWN and not made_in_size)


def _came_home(value: Value) -> bool:
    """Whether the caller's tensor was moved to the CPU, and is there now."""
    provenance = provenance_of(value)
    moved = provenance.find(StepKind.MOVED) if provenance is not None else None
    given = provenance is not None and provenance.find(StepKind.GIVEN) is not None
    return given and moved is not None and moved.device == CPU == getattr(value, "device", None)
