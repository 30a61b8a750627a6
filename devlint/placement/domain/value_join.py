"""The join of two abstract values after a branch."""

from __future__ import annotations

from functools import partial, reduce

import libcst as cst

from devlint import semantics
from devlint.placement.domain.abstract_values import (
    NONE,
    NOTHING,
    SCATTERS,
    ClassValue,
    Constant,
    Container,
    DeviceName,
    Evidence,
    Function,
    Host,
    Instance,
    Kind,
    Module,
    OneOf,
    Opaque,
    Partial,
    Reference,
    Tensor,
    Truth,
    UnknownValue,
    Value,
)
from devlint.placement.domain.device_names import name_of_constant
from devlint.placement.domain.lattice import (
    CPU,
    UNKNOWN,
    Anchor,
    Device,
    Guard,
    GuardKind,
    SameAs,
    choose,
    is_of_parameter,
    leaves,
)
from devlint.placement.domain.provenance import Provenance, StepKind, beside, was_moved
from devlint.records import replace
from devlint.semantics import Dim, DType, Elements
from devlint.semantics.sampling import GENERATOR


def join_values(guard: Guard | None, a: Value, b: Value) -> Value:
    """The value of a name that is bound to ``a`` in one arm and ``b`` in the other."""
    if a is b:
        return a
    if a == b:
        if isinstance(a, Tensor) and isinstance(b, Tensor) and a.least_dims != b.least_dims:
            a = replace(a, least_dims=_least_dims(guard, a, b))
        if isinstance(a, (Tensor, Opaque)) and isinstance(b, (Tensor, Opaque)) and a.provenance is not b.provenance:
            return replace(a, provenance=_telling_provenance(a, b))
        if isinstance(a, Instance) and isinstance(b, Instance) and (a.details, a.given) != (b.details, b.given):
            details, given = _join_named(guard, a.details, b.details), _join_named(guard, a.given, b.given)
            return replace(a, details=details, given=given)
        if isinstance(a, Host) and isinstance(b, Host) and (b.rank is None or a.dims != b.dims):
            return replace(a, rank=a.rank if b.rank is not None else None, dims=a.dims if a.dims == b.dims else 0)
        return b if isinstance(b, UnknownValue) and not b.bottom else a
    if isinstance(a, Truth) and isinstance(b, Truth):
        return Truth(a.known if a.known == b.known else None, about_device=a.about_device or b.about_device)
    first, second = _device_named(a), _device_named(b)
    if first is not None and second is not None:
        return _join_names(guard, first, second)
    if (misnamed := _misnamed(guard, a, b)) is not None:
        return misnamed
    if isinstance(a, DeviceName) or isinstance(b, DeviceName):
        return DeviceName(UNKNOWN)
    if isinstance(a, Module) and isinstance(b, Module):
        return _join_modules(guard, a, b)
    if guard is not None and guard.kind in (GuardKind.IS_NONE, GuardKind.ON_ACCELERATOR):
        # `model or self.model`: what stands in for an argument is of its kind, and where is not known. Nor is it where
        # `if use_cuda: model.cuda()` leaves a model.
        if isinstance(a, Module) and b == NOTHING:
            return _join_modules(guard, a, Module(UNKNOWN))
        if a == NOTHING and isinstance(b, Module):
            return _join_modules(guard, Module(UNKNOWN), b)
    for held, absent in ((a, b), (b, a)):
        if absent == NONE and _is_there_where_read(held):
            return held
        if isinstance(held, Host) and held.numpy and isinstance(absent, UnknownValue) and absent.bottom:
            # `x.numpy() if torch.is_tensor(x) else x`: of a tensor an array.
            return held
        if isinstance(absent, UnknownValue) and absent.bottom and (several := _as_given(held)) is not None:
            return several
    if isinstance(a, Container) and isinstance(b, Container) and a.keys == b.keys and len(a.items) == len(b.items):
        # Items appended in one arm may be present after the branch; an arm without appends removes nothing.
        rest = b.rest if a.rest is None else a.rest if b.rest is None else join_values(guard, a.rest, b.rest)
        items = tuple(join_values(guard, x, y) for x, y in zip(a.items, b.items, strict=True))
        return Container(items, a.keys, rest, a.type, a.node)
    if isinstance(a, Container) and isinstance(b, Container) and (a.keys is None) is not (b.keys is None):
        # A dict in one arm and a list in the other, without tensors.
        return Container((), None, NOTHING, "tuple")
    if isinstance(a, Container) and isinstance(b, Container):
        return _join_sequences(guard, a, b) if a.keys is None or b.keys is None else _join_dicts(guard, a, b)
    if _placed(a) or _placed(b):
        return _join_placed(guard, a, b)
    if is_dtype(a) and is_dtype(b):
        return Host(is_dtype=True)
    if isinstance(a, (Host, Constant)) and isinstance(b, (Host, Constant)) and NONE not in (a, b):
        return _join_plain(a, b)
    if _is_called(a) and _is_called(b):
        callees = tuple(dict.fromkeys((*_callees(a), *_callees(b))))
        return OneOf(callees) if len(callees) <= _MOST_CALLEES else NOTHING
    return NOTHING


def _as_given(made: Value) -> Container | None:
    """``xs = [x] if torch.is_tensor(x) else x``: one or several, each where the caller has them; else None."""
    if not isinstance(made, Container) or made.keys is not None or not made.values:
        return None
    first = made.values[0]
    if not isinstance(first, Tensor) or not is_of_parameter(first.device):
        return None
    if any(not isinstance(item, Tensor) or item.device != first.device for item in made.values):
        return None
    return replace(made, items=(), rest=replace(first, dim=Dim.UNKNOWN, least_dims=0))


def _is_there_where_read(value: Value) -> bool:
    """Whether a value that may be None as well counts as there: it is not None where it is read.

    A module is called, a container unpacked or handed on as several values, an array computed with: `to_numpy(x)` ends
    without a word for what it does not know. A default generator causes no mismatch.
    """
    if isinstance(value, Host):
        return value.numpy
    return isinstance(value, (Module, Container)) or (isinstance(value, Instance) and value.type_name == GENERATOR)


def is_dtype(value: Value) -> bool:
    """A dtype: ``torch.half``, or what an attribute or a function gives that is one."""
    if isinstance(value, Host):
        return value.is_dtype
    return isinstance(value, Reference) and semantics.dtype_class(value.name) is not None


def _join_named(guard: Guard | None, a: Named, b: Named) -> Named:
    """What two objects of one class hold, or were given, as far as both are known to have something of that name."""
    others = dict(b)
    return tuple((name, join_values(guard, held, others[name])) for name, held in a if name in others)


Named = tuple[tuple[str, Value], ...]


_MOST_CALLEES = 4


def _is_called(value: Value) -> bool:
    """A function or a class; of names outside of the project those that the tables tell of, and no dtype."""
    if isinstance(value, Reference):
        return value.name.startswith("torch.nn.") or semantics.function(value.name) is not None
    return isinstance(value, (Function, ClassValue, Partial, OneOf))


def _callees(value: Value) -> tuple[Value, ...]:
    return value.callees if isinstance(value, OneOf) else (value,)


def _join_plain(a: Host | Constant, b: Host | Constant) -> Host:
    """Two plain values on the host: a number if both are, an array if both are."""
    arrays = [value for value in (a, b) if isinstance(value, Host) and value.numpy]
    dtypes = [value for value in (a, b) if isinstance(value, Host) and value.is_dtype]
    # `dist.get_rank() if distributed else 0` is the rank wherever there are several.
    ranks = [value.rank if isinstance(value, Host) else None for value in (a, b)]
    both = all(rank is not None or isinstance(value, Constant) for rank, value in zip(ranks, (a, b), strict=True))
    rank = next(filter(None, ranks), None) if both else None
    return Host(len(arrays) == 2, _is_number(a) and _is_number(b), len(dtypes) == 2, rank=rank)


def _is_number(value: Host | Constant) -> bool:
    return value.number if isinstance(value, Host) else isinstance(value.value, (int, float))


def _join_sequences(guard: Guard | None, a: Container, b: Container) -> Container:
    """Two sequences of one type and of different lengths: what is inside either of them is somewhere inside.

    What stands in for several tensors that were left out, ``(mean, scale)``, has as many as they are.
    """
    first, second = (any_item(container) for container in (a, b))
    rest = second if first is None else first if second is None else join_values(guard, first, second)
    if guard is not None and guard.kind is GuardKind.IS_NONE and first is not None and second is not None:
        if a.items and a.rest is None and not b.items:
            return Container(tuple(join_values(guard, item, second) for item in a.items), None, None, a.type)
        if b.items and b.rest is None and not a.items:
            return Container(tuple(join_values(guard, first, item) for item in b.items), None, None, b.type)
    return Container((), None, rest, a.type, a.node if a.node is b.node else None)


def _join_dicts(guard: Guard | None, a: Container, b: Container) -> Container:
    """Two dicts with different keys: a key that one of them lacks is there where it is read."""
    mine, theirs = dict(zip(a.keys or (), a.items, strict=False)), dict(zip(b.keys or (), b.items, strict=False))
    keys = tuple(dict.fromkeys((*mine, *theirs)))
    sides = [(mine.get(key, a.rest), theirs.get(key, b.rest)) for key in keys]
    items = [x if y is None else y if x is None else join_values(guard, x, y) for x, y in sides]
    rest = b.rest if a.rest is None else a.rest if b.rest is None else join_values(guard, a.rest, b.rest)
    return Container(tuple(item for item in items if item is not None), keys, rest, a.type, a.node)


def any_item(container: Container) -> Value | None:
    """Some item of a container; None for an empty one."""
    items = [*container.items, *([container.rest] if container.rest is not None else [])]
    return reduce(partial(join_values, None), items) if items else None


def _placed(value: Value) -> bool:
    return isinstance(value, (Tensor, Opaque))


def _device_named(value: Value) -> DeviceName | None:
    """The device that a value names, as a string or a device."""
    if isinstance(value, Constant):
        return name_of_constant(value)
    return value if isinstance(value, DeviceName) else None


def _misnamed(guard: Guard | None, a: Value, b: Value) -> DeviceName | None:
    """``"gpu" if use_gpu else "cpu"``: a word that is no device beside the name of one; else None."""
    for word, other, first in ((a, b, True), (b, a, False)):
        name = _device_named(other)
        if name is None or not isinstance(word, Constant) or not isinstance(word.value, str):
            continue
        if word.value.partition(":")[0].isalpha():
            arms = (UNKNOWN, name.device) if first else (name.device, UNKNOWN)
            return DeviceName(choose(guard, *arms), word.node, word.value)
    return None


def _is_misnamed(name: DeviceName) -> bool:
    """Whether a literal that is no device is among what it may be."""
    refused = not isinstance(semantics.parse_device(name.text), semantics.NamedDevice)
    return isinstance(name.node, cst.SimpleString) and UNKNOWN in leaves(name.device) and refused


def _join_names(guard: Guard | None, a: DeviceName, b: DeviceName) -> DeviceName:
    device = choose(_by_arms(guard, a.device, b.device), a.device, b.device)
    is_object = a.is_object and b.is_object
    if _is_misnamed(a) or _is_misnamed(b):
        # `if device == "gpu": device = "cuda"`: the word is no longer there.
        return DeviceName(device, None, "", a.chosen_by_probe or b.chosen_by_probe, is_object=is_object)
    return DeviceName(device, a.node, a.text or b.text, a.chosen_by_probe or b.chosen_by_probe, is_object=is_object)


def _join_modules(guard: Guard | None, a: Module, b: Module) -> Module:
    states = (a.holds_state, b.holds_state)
    same = a.info is b.info and a.type_name == b.type_name
    if states in ((True, False), (False, True)) and not same:
        # Of one of the two: the other has nothing that could be anywhere.
        return a if a.holds_state else b
    if not same and a.device == b.device and (True in states) and _may_stand_for_both(a, b):
        # They are called alike, and the one that has parameters for certain is told of.
        return a if a.holds_state else b
    return Module(
        choose(_by_arms(guard, a.device, b.device), a.device, b.device),
        a.type_name if same else _scattering(a, b) or _scattering(b, a),
        a.info if same else None,
        a.provenance or b.provenance,
        a.children if a.children == b.children else (),
        True if True in states else None if None in states else False,
    )


def _may_stand_for_both(a: Module, b: Module) -> bool:
    """Whether two modules that are called alike give a tensor each: two losses, two layers of torch."""
    rows = [semantics.module(one.type_name) for one in (a, b) if one.type_name]
    return all(row is not None and row.returns == "tensor" and not row.container for row in rows) and bool(rows)


def _scattering(a: Module, b: Module) -> str:
    """The type of a wrapper that scatters its inputs, where nothing but that arm says where the module is."""
    return a.type_name if a.type_name == SCATTERS and b.device == UNKNOWN != a.device else ""


def _by_arms(guard: Guard | None, a: Device, b: Device) -> Guard | None:
    """The guard as a condition about devices, if the arms are the CPU and a device chosen on purpose."""
    if guard is None or guard.kind is GuardKind.ON_ACCELERATOR or (a != CPU and b != CPU):
        return guard
    other = b if a == CPU else a
    if isinstance(other, SameAs) and other.symbol.anchor is Anchor.EXPRESSION:
        return replace(guard, kind=GuardKind.ON_ACCELERATOR)
    return guard


def _join_placed(guard: Guard | None, a: Value, b: Value) -> Value:
    if not isinstance(a, (Tensor, Opaque)):
        return _with_other(guard, b, a, first=False)
    if not isinstance(b, (Tensor, Opaque)):
        return _with_other(guard, a, b, first=True)
    if guard is None or guard.kind is not GuardKind.FIRST_ITERATION:
        # An empty placeholder that one arm replaces is not used in computations.
        if is_placeholder(a) and not is_placeholder(b):
            return b
        if is_placeholder(b) and not is_placeholder(a):
            return a
    decided = _guard_of_move(guard, a.provenance, b.provenance)
    device = choose(decided, a.device, b.device)
    provenance = _telling_provenance(a, b)
    if device == UNKNOWN and _came_in(a) and _came_in(b):
        # What a caller hands over in several arguments is in one place by its choice: the first stands for all.
        device, a = a.device, _likely(a)
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return Tensor(
            device,
            a.dim if a.dim == b.dim else _telling_dim(a, b),
            a.elements if a.elements == b.elements else Elements.UNKNOWN,
            a.dtype if a.dtype == b.dtype else DType.UNKNOWN,
            _join_kinds(a.kind, b.kind),
            a.evidence if a.evidence == b.evidence else Evidence.LIKELY,
            provenance,
            a.pinned and b.pinned,
            least_dims=_least_dims(guard, a, b),
        )
    tensor = a if isinstance(a, Tensor) else b
    if isinstance(tensor, Tensor):
        return replace(tensor, device=device, provenance=provenance, evidence=Evidence.LIKELY)
    return Opaque(device, provenance, getattr(a, "tensorlike", False) and getattr(b, "tensorlike", False))


def _least_dims(guard: Guard | None, a: Tensor, b: Tensor) -> int:
    """What an iteration takes away, each further one takes away again."""
    if guard is not None and guard.kind is GuardKind.FIRST_ITERATION and a.least_dims != b.least_dims:
        return 0
    return min(a.least_dims, b.least_dims)


def _came_in(value: Tensor | Opaque) -> bool:
    """Whether a value is where arguments are: computed of them, and moved nowhere."""
    of_arguments = all(is_of_parameter(leaf) for leaf in leaves(value.device))
    return of_arguments and not was_moved(value.provenance)


def _likely(value: Tensor | Opaque) -> Tensor | Opaque:
    return replace(value, evidence=Evidence.LIKELY) if isinstance(value, Tensor) else value


def _join_kinds(a: Kind, b: Kind) -> Kind:
    """A parameter in one arm and a buffer in the other: the module moves both."""
    if a == b:
        return a
    return Kind.BUFFER if {a, b} == {Kind.PARAMETER, Kind.BUFFER} else Kind.PLAIN


def _with_other(guard: Guard | None, value: Value, other: Value, *, first: bool) -> Value:
    """A tensor in one arm, another value in the other: where it is used as a tensor, the first arm was taken."""
    if not isinstance(value, (Tensor, Opaque)):
        return NOTHING
    if isinstance(other, Constant) and other.value is None:
        return value
    if isinstance(other, Container) and not other.items and other.rest is None and not other.keys:
        # ``done = []`` before a loop binds it: what computes with it has the tensor.
        return value
    if isinstance(other, Container) and _all_on(value.device, other):
        # One or several: an item of either is there.
        return value
    if guard is not None and isinstance(value, Opaque) and isinstance(other, Container):
        # ``if hidden is None: hidden = (torch.zeros(...), torch.zeros(...))``: what came in is such a pair as well.
        placed = _in_one_place(other)
        if placed is not None:
            a, b = (value, placed) if first else (placed, value)
            device = choose(guard, a.device, b.device)
            return replace(value, device=device, provenance=_telling_provenance(a, b), tensorlike=True)
    known = isinstance(other, (Constant, Host, Container)) and not getattr(other, "numpy", False)
    known = known or (isinstance(other, UnknownValue) and other.bottom)
    if guard is None and not known:
        return replace(value, device=UNKNOWN)
    number = isinstance(other, (Host, Constant)) and _is_number(other)
    if known and isinstance(value, Tensor) and not number:
        return replace(value, dim=Dim.UNKNOWN, least_dims=0)
    if number:
        # A sum that begins with 0. A string is another matter: it may name a device.
        return value
    state = _state_of(other) if guard is not None and guard.kind is GuardKind.FIRST_ITERATION else None
    if state is not None:
        # ``hidden = (h, c)`` before a loop of ``y, hidden = rnn(x, hidden)``.
        return _join_placed(guard, value, state) if first else _join_placed(guard, state, value)
    device = choose(guard, value.device, UNKNOWN) if first else choose(guard, UNKNOWN, value.device)
    weaker = replace(value, device=device)
    if guard is not None and guard.kind is GuardKind.FIRST_ITERATION:
        # What a loop begins with is met as it was made.
        return weaker
    if isinstance(weaker, Tensor) and isinstance(other, UnknownValue):
        return replace(weaker, dim=Dim.UNKNOWN, least_dims=0)
    return weaker


def _state_of(other: Value) -> Tensor | None:
    """The first of several tensors in one place, as which a recurrent part is handed its state."""
    items = other.items if isinstance(other, Container) and other.keys is None and other.rest is None else ()
    one = items[0] if items else None
    return one if isinstance(one, Tensor) and isinstance(other, Container) and _all_on(one.device, other) else None


def _all_on(device: Device, container: Container) -> bool:
    """Whether a container holds tensors, and all of them on a device."""
    placed = [getattr(value, "device", None) for value in container.innermost]
    return bool(placed) and all(found == device for found in placed)


def _in_one_place(container: Container) -> Tensor | None:
    """One of the tensors that a container has nothing but, if all are on one device."""
    first = next(iter(container.innermost), None)
    if not isinstance(first, Tensor):
        return None
    rest = all(isinstance(value, Tensor) and value.device == first.device for value in container.innermost)
    return first if rest else None


def _guard_of_move(guard: Guard | None, a: Provenance | None, b: Provenance | None) -> Guard | None:
    """``if cond: x = x.to(d)``: the condition is assumed to hold exactly when the move is needed."""
    if guard is None or a is None or b is None or guard.kind is GuardKind.FIRST_ITERATION:
        return guard
    for longer, shorter in ((a, b), (b, a)):
        link: Provenance | None = longer
        moved = False
        while link is not None and link is not shorter:
            moved = moved or link.step.kind is StepKind.MOVED
            link = link.previous
        if link is shorter and moved:
            return replace(guard, kind=GuardKind.ON_ACCELERATOR)
    return guard


def holds_nothing(value: Tensor) -> bool:
    """A placeholder, or ``torch.Tensor()``, which is joined with what it meets more often than a placeholder is."""
    step = value.provenance.step if value.provenance is not None else None
    bare = step is not None and isinstance(step.node, cst.Call) and not step.node.args
    return is_placeholder(value) or (bare and step is not None and step.factory is not None and step.factory.legacy)


def is_placeholder(value: Tensor | Opaque) -> bool:
    """``torch.empty(0)``, ``torch.tensor([])``: created only to bind the name."""
    if (
        value.provenance is None
        or value.provenance.previous is not None
        or value.provenance.step.kind is not StepKind.MADE
    ):
        return False
    node = value.provenance.step.node
    arguments = [a.value for a in node.args if a.keyword is None] if isinstance(node, cst.Call) else []
    if len(arguments) != 1:
        return False
    first = arguments[0]
    return (isinstance(first, cst.Integer) and first.value == "0") or (
        isinstance(first, (cst.List, cst.Tuple)) and not first.elements
    )


def _telling_dim(a: Tensor, b: Tensor) -> Dim:
    """The dimension in the arm on the CPU: only there does it affect the device check."""
    on_cpu = [tensor.dim for tensor in (a, b) if CPU in leaves(tensor.device)]
    return on_cpu[0] if len(on_cpu) == 1 else Dim.UNKNOWN


def _telling_provenance(a: Tensor | Opaque, b: Tensor | Opaque) -> Provenance | None:
    """The provenance of the arm that may be on the CPU, which a report is about; the join if both may be."""
    on_cpu = [value.provenance for value in (a, b) if CPU in leaves(value.device) and value.provenance is not None]
    if len(on_cpu) == 2:
        return beside(*on_cpu)
    if on_cpu:
        return on_cpu[0]
    return a.provenance or b.provenance
