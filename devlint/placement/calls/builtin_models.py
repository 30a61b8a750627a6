"""Python's built-in functions: what they read of tensors, and what they return."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from itertools import pairwise
from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.calls import computed_names, stated_types
from devlint.placement.calls.bindings import item_of, iterated
from devlint.placement.calls.told_loaders import source_of
from devlint.placement.declarations.definitions import ClassInfo
from devlint.placement.declarations.evidence_conventions import draws_from_a_loader
from devlint.placement.domain.abstract_values import (
    DEVICE_COUNT,
    NOTHING,
    Constant,
    Container,
    Host,
    Instance,
    Kind,
    Opaque,
    Reference,
    Self,
    Tensor,
    Truth,
    UnknownValue,
    Value,
    counted,
)
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.value_join import join_values
from devlint.placement.operations.device_check import perform
from devlint.placement.operations.operands import Bound, element_nodes
from devlint.placement.state.host_reads import host_read
from devlint.placement.state.ranks import as_number
from devlint.placement.syntax.nodes import code_of, dotted
from devlint.records import replace

if TYPE_CHECKING:
    from devlint.placement.domain.abstract_values import Argument
    from devlint.placement.interpreter.interpreter import Interpreter

Special = Callable[["Interpreter", cst.Call, CallSite], Value]


def _next(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    value = site.positional[0].value if site.positional else NOTHING
    if isinstance(value, Container) and value.keys is not None:
        # Iterating over a dict gives its keys.
        return Host()
    source = site.positional[0].node if site.positional else None
    if isinstance(value, Opaque) or (isinstance(source, cst.Call) and dotted(source.func) == "iter"):
        return _iterated(interp, value, node)
    if isinstance(value, UnknownValue) and source is not None and draws_from_a_loader(source_of(interp, source)):
        # `batches = iter(loader)`, and then `next(batches)`.
        return _iterated(interp, value, node)
    return item_of(interp, value, None)


def _host(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``float(t)``, ``int(t)``, ``print(t)``: the data is read on the host."""
    name = code_of(node.func)
    for argument in site.arguments:
        host_read(interp, node, f"{name}()", argument.value, expression=argument.node)
    return (as_number(site.positional[0].value) if site.positional else None) or Host(number=True)


def _bool(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    value = site.positional[0].value if site.positional else NOTHING
    return value if isinstance(value, Truth) else _host(interp, node, site)


def _plain(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    written = as_number(site.positional[0].value) if site.positional else None
    return Host() if written is None else replace(written, number=False)


def _number(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    return Host(number=True)


def _range(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    values = [argument.value for argument in site.positional]
    of_devices = len(values) == 1 and counted(values[0]) == DEVICE_COUNT
    return Container((), None, Host(number=True), DEVICE_COUNT if of_devices else "list")


def _length(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``len(list(range(torch.cuda.device_count())))`` is that count, ``len(list(self.parameters()))`` is not 0."""
    kind = counted(site.positional[0].value) if len(site.positional) == 1 else ""
    return Instance(kind) if kind else Host(number=True)


def _zip(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    if site.unpacks:
        only = site.arguments[0] if len(site.arguments) == 1 else None
        return _columns(interp, only) if only is not None and only.star == "*" else NOTHING
    items = tuple(_iterated(interp, a.value, a.node) for a in site.positional)
    return Container((), None, Container(items, None, None, "tuple"))


def _columns(interp: Interpreter, rows: Argument) -> Value:
    """``zip(*rows)``: a tuple of what each row has first, one of what each has second, and so on."""
    row = _iterated(interp, rows.value, rows.node)
    if not isinstance(row, Container) or row.keys is not None:
        return NOTHING
    if row.items and row.rest is None:
        return Container(tuple(Container((), None, item, "tuple") for item in row.items))
    return Container((), None, Container((), None, item_of(interp, row, None), "tuple"))


def _enumerate(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    if not site.positional:
        return NOTHING
    first = site.positional[0]
    return Container(
        (), None, Container((Host(number=True), _iterated(interp, first.value, first.node)), None, None, "tuple")
    )


def _iterated(interp: Interpreter, value: Value, node: cst.BaseExpression) -> Value:
    return iterated(interp, value, node, node)


def _sequence(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    if not site.positional:
        return Container((), None, None)
    value = site.positional[0].value
    if isinstance(value, (Container, Opaque)):
        return value
    return Container((), None, item_of(interp, value, None))


def _repeat(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``itertools.repeat(x, n)``."""
    return Container((), None, site.positional[0].value) if site.positional else NOTHING


def _chain(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``itertools.chain(a, b)``: the items of each."""
    items = [item_of(interp, argument.value, None) for argument in site.positional]
    return Container((), None, reduce(partial(join_values, None), items)) if items else NOTHING


def _map(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``map(f, xs, ys)``: of each, what the function makes of an item."""
    if len(site.positional) < 2 or site.unpacks:
        return NOTHING
    function, *sources = site.positional
    items = tuple(replace(source, value=item_of(interp, source.value, None)) for source in sources)
    return Container((), None, interp.call_value(node, function.value, CallSite(node, items)))


def _filter(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``filter(f, xs)``: some of the items."""
    return Container((), None, item_of(interp, site.positional[1].value, None)) if len(site.positional) > 1 else NOTHING


def _dict(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    first = site.positional[0].value if len(site.arguments) == 1 and site.positional else None
    if isinstance(first, Container) and first.keys is None and isinstance(first.rest, Container) and not first.items:
        # ``dict(module.named_parameters())``: of pairs, the values.
        return Container((), (), item_of(interp, first.rest, 1), "dict", node)
    if isinstance(first, Opaque) or (isinstance(first, Container) and first.keys is not None):
        return first  # A copy holds the same items.
    pairs = [(a.keyword, a.value) for a in site.arguments if a.keyword is not None]
    rest = NOTHING if any(a.keyword is None for a in site.arguments) else None
    return Container(tuple(v for _, v in pairs), tuple(k for k, _ in pairs), rest, "dict", node)


def _dict_of_default(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``defaultdict(list)``: each item begins as what the factory makes."""
    made: Value = NOTHING
    if len(site.positional) == 1 and site.positional[0].value in (Reference("list"), Reference("dict")):
        keys = () if site.positional[0].value == Reference("dict") else None
        made = Container((), keys)
    return Container((), (), made, "dict", node)


def _super(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``super()`` in a method: the methods of the bases, on the same ``self``."""
    owner = interp.info.owner if interp.info is not None else None
    if owner is None:
        return NOTHING
    parents = owner.parents
    return Self(_parent_view(owner, parents), f"super:{owner.qualname}", is_super=True) if parents else NOTHING


def _parent_view(owner: ClassInfo, parents: tuple[ClassInfo, ...]) -> ClassInfo:
    return parents[0]


def truth(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    return Truth()


def _sum(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``sum([x, y])``: the items are added one after the other."""
    added = site.positional[0].value if site.positional else NOTHING
    if isinstance(added, Container) and len(added.items) > 1 and added.keys is None:
        nodes = element_nodes(site.positional[0].node, added)
        operands = [Bound("operands", item, at) for item, at in zip(added.items, nodes, strict=True)]
        for pair in pairwise(operands):
            perform(interp, node, semantics.operator("+"), list(pair))
    return item_of(interp, added, None)


def _one_of(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``min`` and ``max``: one of the arguments, or an item of a lone one; of numbers a number."""
    values = [argument.value for argument in site.positional]
    if site.unpacks or not values:
        return NOTHING
    if len(values) == 1:
        return item_of(interp, values[0], None)
    if all(isinstance(value, (Host, Constant)) for value in values):
        return Host(number=True)
    if not all(isinstance(value, (Tensor, Host, Constant)) for value in values):
        # Beside a number, what is not known to be a tensor is one: `max(1, steps)`.
        numbers = any(_is_number(value) for value in values)
        return Host(number=True) if numbers and not any(_may_be_tensor(value) for value in values) else NOTHING
    joined = values[0]
    for value in values[1:]:
        joined = join_values(None, joined, value)
    return joined


def _is_number(value: Value) -> bool:
    if isinstance(value, Host):
        return value.number
    return isinstance(value, Constant) and isinstance(value.value, (int, float))


def _may_be_tensor(value: Value) -> bool:
    return isinstance(value, Tensor) or (isinstance(value, Opaque) and value.tensorlike)


def _absolute(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``abs``: a tensor of the same place, a number of a number."""
    value = site.positional[0].value if site.positional else NOTHING
    if isinstance(value, Tensor):
        return replace(value, kind=Kind.PLAIN)
    return Host(number=True) if isinstance(value, (Host, Constant)) else value if isinstance(value, Opaque) else NOTHING


def _cast(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``typing.cast(type, value)``: the value, which is of that type."""
    type_, given = site.argument("typ", 0), site.argument("val", 1)
    if given is None:
        return NOTHING
    value = given.value
    return value if type_ is None else stated_types.as_type(interp, type_.node, value)


FUNCTIONS: dict[str, Special] = {
    "min": _one_of,
    "max": _one_of,
    "abs": _absolute,
    "typing.cast": _cast,
    "typing_extensions.cast": _cast,
    "next": _next,
    "reversed": _sequence,
    "list": _sequence,
    "tuple": _sequence,
    "set": _sequence,
    "sorted": _sequence,
    "collections.deque": _sequence,
    "random.sample": _sequence,
    "random.choices": _sequence,
    "dict": _dict,
    "collections.OrderedDict": _dict,
    "collections.defaultdict": _dict_of_default,
    "zip": _zip,
    "map": _map,
    "filter": _filter,
    "itertools.repeat": _repeat,
    "itertools.chain": _chain,
    "itertools.islice": _sequence,
    "itertools.cycle": _sequence,
    "enumerate": _enumerate,
    "range": _range,
    "len": _length,
    "float": _host,
    "int": _host,
    "bool": _bool,
    "print": _host,
    "str": _plain,
    "repr": _plain,
    "round": _number,
    "isinstance": truth,
    "hasattr": truth,
    "getattr": computed_names.get_attribute,
    "setattr": computed_names.set_attribute,
    "super": _super,
    "sum": _sum,
}
