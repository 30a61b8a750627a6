"""Functions outside the file that are no tensor operations: settings, builtins, numpy, streams."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.calls import framework_models as frameworks
from devlint.placement.calls import higher_order as indirect
from devlint.placement.calls.bindings import item_of
from devlint.placement.declarations.definitions import ClassInfo
from devlint.placement.domain.abstract_values import (
    NOTHING,
    Argument,
    Constant,
    Container,
    DeviceName,
    Host,
    Instance,
    Opaque,
    Reference,
    Self,
    Tensor,
    Truth,
    Value,
    array_of,
)
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.events import DeviceNamed, Sink
from devlint.placement.domain.lattice import SOME_INDEX, UNKNOWN, Device, Known
from devlint.placement.domain.provenance import StepKind
from devlint.placement.operations import generators
from devlint.placement.operations import packed_sequence as packed
from devlint.placement.state import contexts, streams
from devlint.placement.state.devices import resolve_device
from devlint.placement.state.host_reads import host_read
from devlint.placement.syntax.nodes import code_of, dotted

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Walk

Special = Callable[["Walk", cst.Call, CallSite], Value]

_LOSSES = ("loss", "cross_entropy", "nll", "kl_div", "binary_cross_entropy")


def callee_kind(name: str) -> str:
    """Whether a function is a loss, for the words of a report."""
    functional = name.startswith(("torch.nn.functional.", "torchvision.ops."))
    return "loss" if functional and any(word in name for word in _LOSSES) else "operation"


# -- torch ------------------------------------------------------------------------------------------------------


def _device(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    """``torch.device("cuda", 1)``, ``torch.device(1)``, ``torch.device(args.device)``."""
    first = site.argument("device", 0) or site.argument("type", None)
    if first is None:
        return DeviceName(UNKNOWN, node)
    index = site.argument("index", 1)
    if index is not None and isinstance(first.value, Constant) and isinstance(first.value.value, str):
        type_name = first.value.value
        if isinstance(index.value, Constant) and isinstance(index.value.value, int):
            text = f"{type_name}:{index.value.value}"
            name = DeviceName(Known(type_name, index.value.value), node, text)
            if type_name != "cpu":
                guarded = walk.under_device_guard
                walk.emit(DeviceNamed(node, walk.scope, text, Sink.DEVICE, name, site, guarded, walk.arms))
            return name
        return DeviceName(Known(type_name, SOME_INDEX), node, code_of(node))
    device = resolve_device(walk, first.value, first.node, Sink.DEVICE, site)
    if isinstance(first.value, DeviceName):
        return replace(first.value, device=device)
    text = str(first.value.value) if isinstance(first.value, Constant) else code_of(first.node)
    return DeviceName(device, first.node, text)


def _probe(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    return Truth(True, about_device=True)


def _device_count(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    return Instance("device_count")


def _cuda_device(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    argument = site.argument("device", 0)
    device = (
        resolve_device(walk, argument.value, argument.node, Sink.CONTEXT, site) if argument is not None else UNKNOWN
    )
    return Instance("torch.cuda.device", device=device, node=node)


def _device_of(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    """``torch.cuda.device_of(x)``: the current device is that of ``x`` inside."""
    given = site.positional[0].value if site.positional else NOTHING
    return Instance("torch.cuda.device", device=getattr(given, "device", UNKNOWN), node=node)


def _device_type(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    """``torch.autocast("cuda")``, ``torch.amp.GradScaler("cuda")``: for one type of device, which is named."""
    argument = site.argument("device_type", 0) or site.keyword("device")
    if argument is not None:
        resolve_device(walk, argument.value, argument.node, Sink.DEVICE_TYPE, site)
    return NOTHING


def _current_device(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    return DeviceName(Known("cuda", walk.state.current_index), None, "torch.cuda.current_device()")


def _device_or_current(walk: Walk, argument: Argument | None, site: CallSite) -> Device:
    """The device an optional argument names; the current one, with its index where a path set it, otherwise."""
    if argument is None or (isinstance(argument.value, Constant) and argument.value.value is None):
        return Known("cuda", walk.state.current_index)
    return resolve_device(walk, argument.value, argument.node, Sink.CONTEXT, site)


def _stream(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    argument = site.argument("device", 0)
    device = _device_or_current(walk, argument, site)
    return Instance(
        "torch.cuda.Stream", device=device, node=node, details=(("stream", Reference(f"stream@{id(node)}")),)
    )


def _event(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    return Instance("torch.cuda.Event", node=node)


def _current_stream(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    device = _device_or_current(walk, site.argument("device", 0), site)
    return Instance(
        "torch.cuda.Stream", device=device, node=node, details=(("stream", Reference(walk.state.streams.current)),)
    )


def _default_stream(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    return Instance("torch.cuda.Stream", node=node, details=(("stream", Reference("")),))


def _stream_context(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    given = site.positional[0].value if site.positional else NOTHING
    if isinstance(given, Instance) and given.type_name == "torch.cuda.Stream":
        return replace(given, type_name="torch.cuda.stream")
    return NOTHING


def _synchronize(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    argument = site.argument("device", 0)
    if argument is not None:
        resolve_device(walk, argument.value, argument.node, Sink.CONTEXT, site)
    streams.synchronise(walk)
    return NOTHING


def _setting(change: Callable[[Walk, CallSite], Value]) -> Special:
    return lambda walk, node, site: change(walk, site)


def _same(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    """Gives back its first argument: ``copy.deepcopy``, ``tqdm``, ``iter``, ``Variable``, which wraps no more.

    ``vmap(f)`` computes what ``f`` does, where ``f`` does.
    """
    return site.positional[0].value if site.positional else NOTHING


def _load(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    location = site.argument("map_location", 1)
    if location is None or (isinstance(location.value, Constant) and location.value.value is None):
        # Anywhere, each tensor by what the file says; what becomes of it tells what the file holds.
        return Opaque(UNKNOWN, walk.step(StepKind.MADE, node, UNKNOWN, "torch.load"))
    device = resolve_device(walk, location.value, location.node, Sink.MAP_LOCATION, site)
    return Opaque(device, walk.step(StepKind.MADE, node, device, "torch.load"))


# -- builtins ---------------------------------------------------------------------------------------------------


def _next(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    value = site.positional[0].value if site.positional else NOTHING
    if isinstance(value, Container) and value.keys is not None:
        # Running over a dict gives its keys.
        return Host()
    source = site.positional[0].node if site.positional else None
    if isinstance(value, Opaque) or (isinstance(source, cst.Call) and dotted(source.func) == "iter"):
        return _iterated(walk, value, node)
    return item_of(walk, value, None)


def _host(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    """``float(t)``, ``int(t)``, ``print(t)``: the data is read on the host."""
    name = code_of(node.func)
    for argument in site.arguments:
        host_read(walk, node, f"{name}()", argument.value, expression=argument.node)
    return Host(number=True)


def _bool(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    value = site.positional[0].value if site.positional else NOTHING
    return value if isinstance(value, Truth) else _host(walk, node, site)


def _plain(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    return Host()


def _number(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    return Host(number=True)


def _range(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    return Container((), None, Host(number=True))


def _zip(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    items = tuple(_iterated(walk, a.value, a.node) for a in site.positional)
    return Container((), None, Container(items, None, None, "tuple"))


def _enumerate(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    if not site.positional:
        return NOTHING
    first = site.positional[0]
    return Container(
        (), None, Container((Host(number=True), _iterated(walk, first.value, first.node)), None, None, "tuple")
    )


def _iterated(walk: Walk, value: Value, node: cst.BaseExpression) -> Value:
    from devlint.placement.calls.bindings import iterated

    return iterated(walk, value, node, node)


def _sequence(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    if not site.positional:
        return Container((), None, None)
    value = site.positional[0].value
    if isinstance(value, (Container, Opaque)):
        return value
    return Container((), None, item_of(walk, value, None))


def _dict(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    pairs = [(a.keyword, a.value) for a in site.arguments if a.keyword is not None]
    rest = NOTHING if any(a.keyword is None for a in site.arguments) else None
    return Container(tuple(v for _, v in pairs), tuple(k for k, _ in pairs), rest, "dict", node)


def _super(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    """``super()`` inside a method: the bases' methods, on the same ``self``."""
    owner = walk.info.owner if walk.info is not None else None
    if owner is None:
        return NOTHING
    parents = owner.parents
    return Self(_parent_view(owner, parents), f"super:{owner.qualname}") if parents else NOTHING


def _parent_view(owner: ClassInfo, parents: tuple[ClassInfo, ...]) -> ClassInfo:
    return parents[0]


def _getattr(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    return NOTHING


def _isinstance(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    return Truth()


def _sum(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    return item_of(walk, site.positional[0].value, None) if site.positional else NOTHING


def _reinterpreted(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    """einops: a view or copy of its tensor, where that is."""
    value = site.positional[0].value if site.positional else NOTHING
    if isinstance(value, Container):
        value = item_of(walk, value, None)
    return value if isinstance(value, (Tensor, Opaque)) else NOTHING


FUNCTIONS: dict[str, Special] = {
    "torch.device": _device,
    "torch.cuda.is_available": _probe,
    "torch.accelerator.is_available": _probe,
    "torch.cuda.device_count": _device_count,
    "torch.accelerator.device_count": _device_count,
    "torch.cuda.device": _cuda_device,
    "torch.cuda.device_of": _device_of,
    "torch.cuda.current_device": _current_device,
    "torch.autocast": _device_type,
    "torch.amp.autocast": _device_type,
    "torch.amp.autocast_mode.autocast": _device_type,
    "torch.amp.GradScaler": _device_type,
    "torch.GradScaler": _device_type,
    "torch.cuda.set_device": _setting(contexts.set_device),
    "torch.set_default_device": _setting(contexts.set_default_device),
    "torch.set_default_tensor_type": _setting(contexts.set_default_tensor_type),
    "torch.cuda.Stream": _stream,
    "torch.cuda.streams.Stream": _stream,
    "torch.Stream": _stream,
    "torch.cuda.Event": _event,
    "torch.Event": _event,
    "torch.cuda.current_stream": _current_stream,
    "torch.cuda.default_stream": _default_stream,
    "torch.cuda.stream": _stream_context,
    "torch.cuda.StreamContext": _stream_context,
    "torch.cuda.synchronize": _synchronize,
    "torch.accelerator.synchronize": _synchronize,
    "torch.Generator": generators.make,
    "torch.manual_seed": generators.default_of_cpu,
    "torch.load": _load,
    "torch.jit.load": _load,
    "torch.nn.utils.rnn.pack_padded_sequence": packed.pack,
    "torch.nn.utils.rnn.pad_packed_sequence": packed.unpack,
    "torch.utils.checkpoint.checkpoint": indirect.checkpoint,
    "functools.partial": indirect.partial,
    "torch.vmap": _same,
    "torch.func.vmap": _same,
    "torch.func.functional_call": indirect.functional_call,
    "torch.nn.utils.stateless.functional_call": indirect.functional_call,
    "torch.jit.trace": indirect.trace,
    "torch.autograd.grad": indirect.gradients,
    "torch.autograd.backward": indirect.backward,
    "torch.is_tensor": _isinstance,
    "torch.autograd.Variable": _same,
    "torch.autograd.variable.Variable": _same,
    "copy.deepcopy": _same,
    "copy.copy": _same,
    "tqdm.tqdm": _same,
    "tqdm.auto.tqdm": _same,
    "tqdm": _same,
    "next": _next,
    "iter": _same,
    "reversed": _sequence,
    "list": _sequence,
    "tuple": _sequence,
    "set": _sequence,
    "sorted": _sequence,
    "dict": _dict,
    "zip": _zip,
    "enumerate": _enumerate,
    "range": _range,
    "len": _number,
    "float": _host,
    "int": _host,
    "bool": _bool,
    "print": _host,
    "str": _plain,
    "repr": _plain,
    "round": _number,
    "isinstance": _isinstance,
    "hasattr": _isinstance,
    "getattr": _getattr,
    "super": _super,
    "sum": _sum,
    "einops.rearrange": _reinterpreted,
    "einops.repeat": _reinterpreted,
    "einops.reduce": _reinterpreted,
    "einops.einsum": indirect.contraction,
    "einops.pack": _plain,
    "accelerate.Accelerator": frameworks.accelerator,
    "accelerate.accelerator.Accelerator": frameworks.accelerator,
    "tensordict.TensorDict": frameworks.tensordict,
}

HOST_LIBRARIES = ("numpy.", "scipy.", "sklearn.", "matplotlib.", "PIL.", "cv2.", "pandas.", "skimage.")
"""Libraries that read tensors through ``__array__``, which an accelerator tensor refuses."""


def call_by_prefix(walk: Walk, node: cst.Call, name: str, site: CallSite) -> Value:
    """A call that is in no table: host libraries read their arguments, the rest is unknown."""
    loaded = frameworks.pretrained(walk, node, name, site)
    if loaded is not None:
        return loaded
    if name.startswith(HOST_LIBRARIES):
        for argument in site.arguments:
            host_read(walk, node, name, argument.value, wants_cpu=True, expression=argument.node)
        return array_of(*(argument.value for argument in site.arguments))
    if name.startswith("math."):
        return Host(number=True)
    if name.startswith("torch.utils.data."):
        generators.note_sampling(walk, node, name, site)
    last = name.rsplit(".", 1)[-1]
    if name.startswith("torch.") and last[:1].islower() and semantics.is_device_probe(name):
        return Truth(None, about_device=True)
    if name in contexts.META_CONTEXTS or last in contexts.META_CONTEXTS:
        return Instance(name, node=node)
    return NOTHING
