"""The initial values of a definition's parameters, and the kind of the definition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.calls import handed_on, library_objects
from devlint.placement.calls.kept_between_calls import bind_kept
from devlint.placement.calls.made_by_default import left_out_or
from devlint.placement.declarations.constructor_parts import serves_constructor, serves_forward
from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
from devlint.placement.declarations.evidence_conventions import CONVENTIONS, NAMED_STATE, SAVED_FOR_BACKWARD
from devlint.placement.declarations.evidence_literals import states_a_number
from devlint.placement.declarations.evidence_uses import uses_in
from devlint.placement.declarations.forward_like_methods import gathered_by, hooks_of
from devlint.placement.declarations.ignored_parameters import ignored_device_parameters
from devlint.placement.declarations.imports import ImportTable
from devlint.placement.declarations.known_classes import ClassKind
from devlint.placement.declarations.left_out_devices import left_out_devices
from devlint.placement.declarations.mapping_devices import devices_that_only_map
from devlint.placement.declarations.objects_of_the_cpu import keeps_to_the_cpu
from devlint.placement.declarations.parameter_evidence import (
    Held,
    annotated,
    module_class,
    name_uses,
    roles_of,
    states_parameter,
)
from devlint.placement.declarations.parameter_evidence import Role as Holds
from devlint.placement.declarations.rests_on_the_cpu import rests_on_the_cpu
from devlint.placement.declarations.symbol_keys import symbol_key
from devlint.placement.declarations.template_methods import is_step_of_forward
from devlint.placement.domain.abstract_values import (
    NOTHING,
    ClassValue,
    Container,
    DeviceName,
    Evidence,
    Host,
    Kind,
    Module,
    Opaque,
    Self,
    Tensor,
    Value,
)
from devlint.placement.domain.class_facts import NAMES_OF_STATE
from devlint.placement.domain.events import Begun, ParameterIgnored, ParameterLeftOut, ParameterOnlyMaps
from devlint.placement.domain.lattice import CPU, SOME_INDEX, Anchor, Device, SameAs, Symbol
from devlint.placement.domain.provenance import StepKind
from devlint.placement.domain.scope import Scope, Setting
from devlint.placement.domain.symbols import module_symbol
from devlint.placement.state.field_types import (
    annotated_class,
    container_of_modules,
    container_of_records,
    is_data_set,
    module_of,
    role_of_alias,
    tensor_fields,
)
from devlint.placement.syntax.nodes import code_of, parameters_of
from devlint.semantics import Dim, library_models
from devlint.source.dependency_parts import IMPORTS
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter

CONSTRUCTION = frozenset({"__init__", "__post_init__", "reset_parameters", "_reset_parameters", "__new__"})
CONSTRUCTION_PREFIXES = (
    "init_",
    "_init",
    "initialize",
    "_initialize",
    "reset_param",
    "_reset_param",
    "build_",
    "_build",
)


def scope_of(info: FunctionInfo, path: str, role: Role) -> Scope:
    owner = info.owner
    return Scope(path, role, info.qualname, _setting(info), owner.qualname if owner is not None else None)


def _setting(info: FunctionInfo) -> Setting:
    owner, name = info.owner, info.name
    if "collate" in name or name in ("worker_init_fn", "__getitem__", "seed_worker"):
        return Setting.HOST
    if owner is None:
        return Setting.HOST if _changes_both(info) or _is_given_images(info) else Setting.FUNCTION
    if owner.kind is ClassKind.HOST or "collat" in owner.name.lower() or _is_of_cpu(owner.name):
        return Setting.HOST
    named_so = name.startswith(CONSTRUCTION_PREFIXES) and not (
        serves_forward(owner, name) or _takes_data(info) or _begins_a_state(owner, info)
    )
    if name in CONSTRUCTION or named_so or serves_constructor(owner, name):
        return Setting.CONSTRUCTION
    if keeps_to_the_cpu(owner) or rests_on_the_cpu(info):
        return Setting.HOST
    if (owner.is_module and name == "forward") or is_step_of_forward(owner, info):
        return Setting.HOST if _is_given_images(info) else Setting.FORWARD
    if name == "__call__" and owner.kind is ClassKind.PLAIN and _prepares_images(info):
        return Setting.HOST
    placed, on_host = hooks_of(owner)
    if name in placed or name in on_host:
        return Setting.FORWARD if name in placed else Setting.HOST
    return Setting.METHOD


def _imports_of(info: FunctionInfo) -> ImportTable:
    """The imports of the file that declares a definition."""
    if info.linkage is None:
        return ImportTable()
    info.linkage.depends_on(IMPORTS)
    return info.linkage.imports


def _prepares_images(info: FunctionInfo) -> bool:
    """A transform as a plain class: one image comes in, and the file imports a library for images on the host."""
    names = [parameter.name.value for parameter in parameters_of(info.header)[1:]]
    if not names or names[1:] not in ([], ["target"]) or not names[0].startswith(_IMAGES):
        return False
    return any(library_models.images_on_host(name) for name in _imports_of(info).values())


_IMAGES = ("img", "image", "pic", "sample")


def _changes_both(info: FunctionInfo) -> bool:
    """``hflip(image, target)``: one step of such a transform, for an image and the boxes that are drawn on it."""
    names = [parameter.name.value for parameter in parameters_of(info.header)[:2]]
    if len(names) < 2 or names[1] != "target" or names[0] not in ("image", "img"):
        return False
    return any(library_models.images_on_host(name) for name in _imports_of(info).values())


def _takes_data(info: FunctionInfo) -> bool:
    """``initialize_from_data(x)``: data comes in when the object is built, and where it works.

    ``init_state(encoded: Tensor) -> Tensor`` begins what goes on with the data, and gives it back.
    """
    name = info.name.lstrip("_")
    if not name.startswith("init") or (not name.startswith("initialize") and not _gives_tensors(info)):
        return False
    roles = roles_of(info, _imports_of(info)).values()
    return any(held.role in (Holds.TENSOR, Holds.LIKELY_TENSOR) for held in roles)


def _begins_a_state(owner: ClassInfo, info: FunctionInfo) -> bool:
    """``init_hidden(batch_size)`` of a Module gives what callers hand to ``forward``, and sets nothing of its own."""
    begins = info.name.lstrip("_").startswith("init_")
    return begins and owner.is_module and not (info.gives_none or info.stores)


def _gives_tensors(info: FunctionInfo) -> bool:
    """Whether its annotation says that it gives tensors."""
    returns = info.header.returns if isinstance(info.header, cst.FunctionDef) else None
    return returns is not None and "Tensor" in code_of(returns.annotation)


def _is_given_images(info: FunctionInfo) -> bool:
    """A transform: by its annotation it is called with an image of a library that knows arrays alone."""
    stated = (p.annotation for p in parameters_of(info.header) if p.annotation is not None)
    names = [code_of(node.annotation) for node in stated if isinstance(node.annotation, (cst.Name, cst.Attribute))]
    # What the file imports is asked for where it may matter: the answer rests on it from then on.
    images = [name for name in names if "image" in name.rpartition(".")[2].lower()]
    return any(library_models.images_on_host(_imports_of(info).qualified(name)) for name in images)


def _is_of_cpu(name: str) -> bool:
    """``CPUAttentionBackend``: its name says where it works; what offloads works on both sides."""
    return name.lstrip("_").startswith(("CPU", "Cpu")) and "ffload" not in name


def bind_parameters(interp: Interpreter, info: FunctionInfo) -> None:
    """Bind ``self``, the named parameters by their roles, and ``*args`` and ``**kwargs``."""
    parameters = parameters_of(info.node)
    if info.owner is not None and not info.is_static and parameters:
        first = parameters.pop(0).name.value
        key = f"{interp.scope.path}:{info.owner.qualname}"
        interp.state.values[first] = ClassValue(info.owner, key) if info.is_classmethod else Self(info.owner, key)
        bind_kept(interp, info, first)
    roles = handed_on.roles(interp.program, info)
    interp.uses = name_uses(uses_in(info, interp.index.imports))
    with_module = module_symbol(info.owner) if interp.scope.setting is Setting.FORWARD else None
    context = info.owner is not None and info.owner.kind is ClassKind.AUTOGRAD and info.is_static
    if context and info.name == "backward":
        # The engine makes the device of the gradients current before it calls it (torch/csrc/autograd/engine.cpp).
        interp.state.current_index = SOME_INDEX
    for position, parameter in enumerate(parameters):
        name = parameter.name.value
        if context and position == 0:
            interp.state.values[name] = NOTHING
            if info.name == "backward" and len(parameters) > 1:
                _bind_saved(interp, info, parameter, parameters[1].name.value)
            continue
        symbol = Symbol(Anchor.PARAMETER, name, symbol_key(info, name))
        gathered = _gathered(interp, info) if position == 0 else None
        given = gathered or _value(interp, parameter, roles[name], symbol, with_module, position == 0)
        interp.state.values[name] = left_out_or(interp, parameter, symbol, given)
    params = info.node.params
    if isinstance(params.star_arg, cst.Param):
        interp.state.values[params.star_arg.name.value] = Container(
            (), None, _each_of(interp, info, params.star_arg, with_module), "tuple"
        )
    if params.star_kwarg is not None:
        interp.state.values[params.star_kwarg.name.value] = Container(
            (), (), _each_of(interp, info, params.star_kwarg, with_module), "dict"
        )


_IN_A_DICT = "training_step"
"""The step whose result is kept under ``loss`` where it gives no dict (lightning/pytorch/loops)."""


def _gathered(interp: Interpreter, info: FunctionInfo) -> Container | None:
    """``validation_epoch_end(self, outputs)``: what the step gave for each batch, of one loader."""
    step = gathered_by(info)
    given = interp.program.summary(step) if step is not None else None
    if step is not None and step.name == _IN_A_DICT and isinstance(given, Tensor):
        given = Container((given,), ("loss",), None, "dict")
    return Container((), None, given) if isinstance(given, (Container, Tensor)) else None


def _bind_saved(interp: Interpreter, info: FunctionInfo, context: cst.Param, gradient: str) -> None:
    """``x, y = ctx.saved_tensors``: what the forward pass saved is where the gradients of its outputs are."""
    device = SameAs(Symbol(Anchor.PARAMETER, gradient, symbol_key(info, gradient)))
    name = f"{context.name.value}.saved_tensors"
    step = interp.step(StepKind.GIVEN, context, device, name, note=CONVENTIONS[SAVED_FOR_BACKWARD])
    saved = Tensor(device, evidence=Evidence.LIKELY, provenance=step)
    interp.state.values[name] = Container((), None, saved, "tuple")


def _each_of(interp: Interpreter, info: FunctionInfo, star: cst.Param, with_module: Symbol | None) -> Value:
    """Each of ``*args`` or ``**kwargs``: what several arguments share, the caller has in one place."""
    name = star.name.value
    device = SameAs(with_module or Symbol(Anchor.PARAMETER, name, symbol_key(info, name)))
    given = interp.step(StepKind.GIVEN, star, device, name)
    stated = code_of(star.annotation.annotation) if star.annotation is not None else ""
    if stated and annotated(stated, interp.index.imports) is Holds.TENSOR:
        return Tensor(device, provenance=given)
    module = module_of(annotated_class(interp, star))
    return Opaque(device, given) if module is None else Module(device, "", module, given)


def announce(interp: Interpreter, info: FunctionInfo) -> None:
    """Emit the events before the body: the bound arguments, and device parameters that get lost."""
    parameters = parameters_of(info.node)[info.has_receiver :]
    named = tuple((p.name.value, interp.state.values[p.name.value]) for p in parameters)
    interp.emit(Begun(info.node, interp.scope, named, info.owner))
    for ignored in ignored_device_parameters(info, interp.index):
        name = ignored.parameter.name.value
        interp.emit(
            ParameterIgnored(ignored.parameter, interp.scope, name, info.node, ignored.overwritten, ignored.kept_absent)
        )
    for maps in devices_that_only_map(info, interp.index):
        name = maps.parameter.name.value
        interp.emit(ParameterOnlyMaps(maps.loaded, interp.scope, name, maps.module, maps.parameter))
    for left_out in left_out_devices(info, interp.index):
        interp.emit(ParameterLeftOut(left_out.call, interp.scope, left_out.parameter, info.node, left_out.recursive))


_TENSORS = frozenset({Holds.TENSOR, Holds.LIKELY_TENSOR, Holds.PLACED, Holds.NAMED_TENSOR, Holds.TENSORS})


def _is_named_for_cpu(name: str) -> bool:
    return name.startswith("cpu_") or name.endswith("_cpu")


def _modules(interp: Interpreter, parameter: cst.Param, symbol: Symbol, kind: str, held: ClassInfo | str) -> Container:
    """``encoders: list[Encoder]``: any number of modules, which are where the caller has them."""
    device = SameAs(symbol)
    provenance = interp.step(StepKind.GIVEN, parameter, device, symbol.name)
    known = semantics.module(held) if isinstance(held, str) else None
    module = Module(
        device,
        held if isinstance(held, str) else "",
        None if isinstance(held, str) else held,
        provenance,
        holds_state=known.holds_state if known is not None else None,
    )
    return Container((), () if kind == "dict" else None, module, kind)


def _records(
    interp: Interpreter,
    parameter: cst.Param,
    name: str,
    device: Device,
    kind: str,
    fields: frozenset[str],
    of: ClassInfo,
) -> Container:
    """``graphs: list[Graph]``: any number of objects, with their tensors where the caller has them."""
    each = Opaque(device, interp.step(StepKind.GIVEN, parameter, device, name), fields=fields, info=of)
    return Container((), () if kind == "dict" else None, each, kind)


def _value(
    interp: Interpreter, parameter: cst.Param, held: Held, symbol: Symbol, with_module: Symbol | None, first: bool
) -> Value:
    """The value of a parameter. ``first``: of what a Module is called with, the first is its input, by convention."""
    device: Device = SameAs(with_module or symbol)
    if library_objects.is_drawn_on(interp, parameter):
        return Host(numpy=True)
    if parameter.annotation is not None and held.role in (Holds.ANYTHING, Holds.NO_TENSOR):
        held = Held(role_of_alias(interp, parameter) or held.role, held.convention)
    if held.role in _TENSORS and _is_named_for_cpu(symbol.name):
        # `lengths_cpu`: the callers are asked for a CPU tensor.
        device = CPU
    dim = Dim.NONZERO if symbol.name in interp.uses.with_dimensions else Dim.UNKNOWN
    if symbol.name in ("named_parameters", "named_buffers") and held.role in (Holds.ANYTHING, Holds.SEVERAL):
        provenance = interp.step(StepKind.GIVEN, parameter, device, symbol.name, note=CONVENTIONS[NAMED_STATE])
        one = Tensor(device, kind=NAMES_OF_STATE[symbol.name], provenance=provenance)
        return Container((), None, Container((Host(), one), None, None, "tuple"))
    modules = container_of_modules(interp, parameter)
    if modules is not None:
        return _modules(interp, parameter, symbol, *modules)
    records = container_of_records(interp, parameter)
    if records is not None:
        return _records(interp, parameter, symbol.name, device, *records)
    match held.role:
        case Holds.TENSOR:
            annotation_text = code_of(parameter.annotation.annotation) if parameter.annotation is not None else ""
            kind = Kind.PARAMETER if states_parameter(annotation_text, interp.index.imports) else Kind.PLAIN
            return Tensor(
                device, dim, kind=kind, provenance=interp.step(StepKind.GIVEN, parameter, device, symbol.name)
            )
        case Holds.LIKELY_TENSOR | Holds.PLACED if with_module is None or held.role is Holds.LIKELY_TENSOR:
            note = CONVENTIONS.get(held.convention, "")
            provenance = interp.step(StepKind.GIVEN, parameter, device, symbol.name, note=note)
            return Tensor(device, dim, evidence=Evidence.LIKELY, provenance=provenance)
        case Holds.NAMED_TENSOR:
            provenance = interp.step(StepKind.GIVEN, parameter, device, symbol.name, note=CONVENTIONS[held.convention])
            return Opaque(device, provenance, tensorlike=True)
        case Holds.TENSORS:
            note = CONVENTIONS.get(held.convention, "")
            provenance = interp.step(StepKind.GIVEN, parameter, device, symbol.name, note=note)
            return Container((), None, Tensor(device, evidence=Evidence.LIKELY, provenance=provenance), "list")
        case Holds.TENSORS_BY_NAME:
            provenance = interp.step(StepKind.GIVEN, parameter, device, symbol.name)
            return Container((), (), Tensor(device, evidence=Evidence.LIKELY, provenance=provenance), "dict")
        case Holds.SEVERAL if with_module is not None or held.convention:
            note = CONVENTIONS.get(held.convention, "")
            provenance = interp.step(StepKind.GIVEN, parameter, device, symbol.name, note=note)
            return Container((), None, Opaque(device, provenance, tensorlike=True), "list")
        case Holds.MODULE:
            return _module(interp, parameter, held, symbol)
        case Holds.DEVICE:
            default = parameter.default
            if isinstance(default, cst.Integer) and symbol.name == "device":
                return DeviceName(SameAs(symbol), default, default.value)
            return DeviceName(SameAs(symbol), None, symbol.name)
        case Holds.NUMPY:
            return Host(numpy=True)
        case Holds.HOST:
            return Host(number=states_a_number(parameter), is_dtype=_is_dtype(interp, parameter))
        case Holds.ANYTHING | Holds.NO_TENSOR if _is_dtype(interp, parameter):
            return Host(is_dtype=True)
        case _:
            meets = with_module is not None and (first or symbol.name in interp.uses.computed)
            return _anything(interp, parameter, held, symbol, device, meets)


def _is_dtype(interp: Interpreter, parameter: cst.Param) -> bool:
    """``dt=torch.float32``, ``dt: torch.dtype``: a dtype, and no type of tensors, which would have a device."""
    stated = parameter.annotation.annotation if parameter.annotation is not None else parameter.default
    if not isinstance(stated, (cst.Name, cst.Attribute)):
        return False
    name = interp.index.qualified(code_of(stated))
    if parameter.annotation is not None:
        return name == "torch.dtype"
    return name.startswith("torch.") and semantics.dtype_class(name) is not None


def _module(interp: Interpreter, parameter: cst.Param, held: Held, symbol: Symbol) -> Module:
    """A Module that is given: of the stated class, else of the one that its use or its callers tell."""
    own = SameAs(symbol)
    stated = module_of(annotated_class(interp, parameter))
    if stated is not None:
        return Module(own, "", stated, interp.step(StepKind.GIVEN, parameter, own, symbol.name))
    note = CONVENTIONS.get(held.convention, "")
    provenance = interp.step(StepKind.GIVEN, parameter, own, symbol.name, note=note)
    inferred = module_of(interp.program.global_value(held.class_name)) if held.class_name else None
    if inferred is not None:
        return Module(own, "", inferred, provenance)
    annotation = parameter.annotation
    type_name = module_class(code_of(annotation.annotation), interp.index.imports) if annotation is not None else ""
    info = semantics.module(type_name) if type_name else None
    return Module(own, type_name, provenance=provenance, holds_state=info.holds_state if info is not None else None)


def _anything(
    interp: Interpreter, parameter: cst.Param, held: Held, symbol: Symbol, device: Device, meets: bool
) -> Value:
    """What no role tells: an object of a library or of a class that is seen, else whatever the callers give.

    ``meets``: whether it is a Module's input, or is computed with beside the module's own tensors.
    """
    provenance = interp.step(StepKind.GIVEN, parameter, device, symbol.name)
    annotation = parameter.annotation
    class_name = interp.index.qualified(code_of(annotation.annotation)) if annotation is not None else ""
    told = library_objects.given(interp, parameter, class_name, symbol.name)
    if told is not None:
        return told
    if is_data_set(interp, parameter):
        return NOTHING
    stated_class = annotated_class(interp, parameter)
    if held.class_name:
        stated_class = interp.program.global_value(held.class_name)
    module = module_of(stated_class)
    if module is not None:
        return Module(SameAs(symbol), "", module, provenance)
    fields, declared = tensor_fields(interp, stated_class)
    unknown = held.role is not Holds.NO_TENSOR and not fields and declared is None
    immovable = class_name if semantics.is_immovable(class_name) else ""
    return Opaque(device, provenance, tensorlike=meets and unknown, fields=fields, info=declared, immovable=immovable)
