"""What a definition has at hand that says a device: a device it is handed or reads, a tensor, a module."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from devlint.placement.declarations.known_classes import kind_of_base
from devlint.placement.domain.abstract_values import Constant, DeviceName, Module, Opaque, Tensor
from devlint.placement.domain.events import Moved
from devlint.placement.domain.lattice import (
    SOME_INDEX,
    UNKNOWN,
    Known,
    SameAs,
    is_accelerator,
    is_device_by_name,
    leaves,
    may_be_cpu,
)
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.nodes import code_of, dotted, inner_nodes
from devlint.records import dataclass, replace

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.declarations.definitions import ClassInfo
    from devlint.placement.domain.abstract_values import Argument
    from devlint.placement.domain.events import Begun, Called, Created
    from devlint.placement.domain.lattice import Device

Moves = Sequence[tuple[str, bool]]
"""What is moved to the current accelerator, in the source's words, and whether that is a module."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What could say the device, and how that is spelled."""

    name: str
    device: str
    is_tensor: bool = False
    is_device: bool = False
    node: cst.CSTNode | None = None
    in_use: bool = False
    """A device of an object, such as `self.device`, to which the definition itself moves something."""
    chosen: bool = False
    """A name for what the machine has or the options say, to which the definition itself brings something."""
    numbered: bool = False
    """That is one accelerator of several by its number."""
    falls_back: bool = False
    """What the machine has chose it, so that it may be the CPU."""


def candidates_of(begun: Begun | None, moved: Moves) -> list[Candidate]:
    """Devices first, then tensors, then modules; nothing that the definition itself moves to the accelerator."""
    import libcst as cst

    if begun is None or not isinstance(begun.node, cst.FunctionDef):
        return []
    nodes = {p.name.value: p for p in (*begun.node.params.params, *begun.node.params.kwonly_params)}
    found: list[tuple[int, Candidate]] = []
    on_host = _brought_to_host(begun.node)
    for name, value in begun.arguments:
        if _is_moved(name, moved) or name in on_host:
            continue
        node = nodes.get(name)
        if isinstance(value, DeviceName):
            found.append((0, Candidate(name, name, is_device=True, node=node)))
        elif isinstance(value, Tensor) or (isinstance(value, Opaque) and value.tensorlike):
            found.append((1, Candidate(name, f"{name}.device", is_tensor=True, node=node)))
        elif isinstance(value, Module):
            found.append((2, Candidate(name, f"next({name}.parameters()).device", node=node)))
    in_use = begun.scope.setting in (Setting.FORWARD, Setting.METHOD)
    asked = begun.owner is not None and is_known_module(begun.owner) and not _keeps_parameters_away(begun.owner)
    method = begun.owner.method(begun.scope.qualname.rpartition(".")[2]) if begun.owner is not None else None
    of_object = method is None or not (method.is_classmethod or method.is_static)
    if asked and of_object and in_use and not _is_moved("self", moved) and not _scatters(begun.owner):
        found.append((3, Candidate("self", "next(self.parameters()).device")))
    return [candidate for _, candidate in sorted(found, key=lambda pair: pair[0])]


def in_use(event: Moved | Created) -> Candidate | None:
    """The device to which a transfer or a factory goes: of an object, as `accelerator.device`, or what was chosen."""
    device = event.target if isinstance(event, Moved) else getattr(event.value, "device", UNKNOWN)
    return _said_by(event.named, device, event.node)


def told_to(event: Called) -> Candidate | None:
    """The same of ``torch.load(path, map_location=device)``, and of what any callee is told, ``device=self.device``."""
    loads = event.name == "torch.load"
    named = event.call.argument("map_location", 1) if loads else event.call.keyword("device")
    return _said_by(named, getattr(named.value, "device", UNKNOWN), event.node) if named is not None else None


def _said_by(named: Argument | None, device: Device, node: cst.CSTNode) -> Candidate | None:
    import libcst as cst

    chosen = named is not None and isinstance(named.value, DeviceName) and falls_back(named.value)
    if named is not None and isinstance(named.node, cst.Name) and isinstance(named.value, DeviceName):
        name = named.node.value
        numbered = any(map(_is_numbered, leaves(named.value.device)))
        told = chosen or numbered or any(map(is_device_by_name, leaves(named.value.device)))
        found = Candidate(name, name, is_device=True, node=node, in_use=True, chosen=True, numbered=numbered)
        return replace(found, falls_back=chosen) if told else None
    if named is not None and (key := _key_of_options(named.node)) and not isinstance(named.value, (Tensor, Constant)):
        spelled = code_of(named.node)
        return None if _AWAY.search(key) else Candidate(spelled, spelled, is_device=True, node=node, in_use=True)
    if named is not None and chosen and isinstance(named.node, cst.Call):
        # ``rows.to(get_device())``: the function asks the machine.
        asked = code_of(named.node)
        return Candidate(asked, asked, is_device=True, node=node, in_use=True, chosen=True, falls_back=True)
    if named is None or not isinstance(named.node, cst.Attribute):
        return None
    spelled = code_of(named.node)
    numbered = any(map(_is_numbered, leaves(device)))
    told = chosen or numbered or any(isinstance(leaf, SameAs) for leaf in leaves(device))
    if not told or not spelled.endswith("device") or isinstance(named.value, (Tensor, Opaque)):
        return None
    kept = isinstance(named.node.value, cst.Name) and named.node.value.value == "self"
    if isinstance(named.value, DeviceName) and named.value.of_tensor and not kept:
        return None
    return Candidate(
        spelled, spelled, is_device=True, node=node, in_use=True, chosen=chosen, falls_back=chosen, numbered=numbered
    )


def falls_back(value: DeviceName) -> bool:
    """Whether a test of what the machine has chose it, or the options in one arm.

    ``"cuda" if torch.cuda.is_available() and not args.no_cuda else "cpu"``: the CPU may be meant in any case.
    """
    # Another arm has to name an accelerator: `x.device if hasattr(x, "device") else "cpu"` follows what it is given.
    return value.chosen_by_probe or (may_be_cpu(value.device) and any(map(is_accelerator, leaves(value.device))))


def _key_of_options(node: cst.CSTNode) -> str:
    """`device` of ``params["device"]``: an option that says a device; empty for other expressions."""
    import libcst as cst

    if not isinstance(node, cst.Subscript) or len(node.slice) != 1 or not isinstance(node.slice[0].slice, cst.Index):
        return ""
    key = node.slice[0].slice.value
    text = key.evaluated_value if isinstance(key, cst.SimpleString) else ""
    return text if isinstance(text, str) and text.endswith("device") else ""


def _is_numbered(device: Device) -> bool:
    """``torch.device(f"cuda:{args.gpu}")``: one accelerator of several, which need not be the current one."""
    return isinstance(device, Known) and device.index == SOME_INDEX


def is_known_module(owner: ClassInfo) -> bool:
    """By a base that the tables know: that something of an unknown base has a `forward` is not enough to ask it."""
    bases = [base for cls in owner.order for base in cls.bases if isinstance(base, str)]
    return owner.is_module and any(kind_of_base(base) is not None for base in bases)


_AWAY = re.compile("offload|onload|to_cpu$|compute_device|execution_device")
"""Words in the names of what a module keeps whose parameters wait elsewhere than where it works."""


def _keeps_parameters_away(owner: ClassInfo) -> bool:
    """Whether the parameters may be on the CPU while the module works on an accelerator (fixture `offloaded`)."""
    methods = (method for cls in owner.order for method in cls.methods.values())
    return any(_AWAY.search(name) for method in methods for name in method.own.mentioned)


def _scatters(owner: ClassInfo | None) -> bool:
    """Whether it is built around `nn.DataParallel`, which takes inputs from whichever GPU and spreads them itself.

    Not where that is one of two ways: ``self.net = DataParallel(net) if several else net``.
    """
    constructors = owner.constructors if owner is not None else ()
    stored = (values for one in constructors for values in one.stored_expressions.values())
    return any(len(values) == 1 and _is_spread(values[0]) for values in stored)


def _is_spread(value: cst.BaseExpression | None) -> bool:
    import libcst as cst

    return isinstance(value, cst.Call) and (dotted(value.func) or "").rpartition(".")[2] == "DataParallel"


def _brought_to_host(body: cst.FunctionDef) -> set[str]:
    """Names that some arm binds anew on the CPU, `boxes = boxes.cpu()`: behind it they no longer say the device."""
    import libcst as cst

    found = set()
    for node in inner_nodes(body):
        if type(node) is cst.Assign and len(node.targets) == 1 and type(node.targets[0].target) is cst.Name:
            name = node.targets[0].target.value
            if any(type(call) is cst.Call and dotted(call.func) == f"{name}.cpu" for call in inner_nodes(node.value)):
                found.add(name)
    return found


def _is_moved(name: str, moved: Moves) -> bool:
    """Itself, or inside a module that wraps it: `nn.DataParallel(model).cuda()`."""
    return any(
        text == name or (of_module and name in re.split(r"\W+", text) and "." + name not in text)
        for text, of_module in moved
    )


def is_part_of(receiver: str, name: str) -> bool:
    """`self.head.cuda()` cannot ask `self`, nor `batch[0].cuda()` the batch: that is what it moves."""
    return receiver == name or receiver.startswith((f"{name}.", f"{name}["))
