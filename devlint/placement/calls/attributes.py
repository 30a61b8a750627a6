"""Attributes of tensors, modules, ``self``, and names defined outside the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.calls import library_objects
from devlint.placement.calls.own_attributes import of_self, plain_tensor
from devlint.placement.calls.project_objects import of_object
from devlint.placement.calls.summaries import substitute
from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
from devlint.placement.declarations.evidence_conventions import CONVENTIONS, OF_ANOTHER_CLASS, names_options
from devlint.placement.declarations.evidence_names import names_a_module, names_an_action
from devlint.placement.declarations.evidence_rows import TENSOR_ONLY
from devlint.placement.declarations.imports import canonical
from devlint.placement.domain.abstract_values import (
    NOTHING,
    ClassValue,
    Container,
    DeviceName,
    Evidence,
    Function,
    Host,
    Instance,
    Kind,
    Module,
    Opaque,
    ProjectModule,
    Reference,
    Self,
    Tensor,
    Truth,
    UnknownValue,
    Value,
    as_tensor,
)
from devlint.placement.domain.events import GlobalRead, Loaded
from devlint.placement.domain.lattice import CPU, UNKNOWN, Device, SameAs, is_given, is_of_parameter, leaves
from devlint.placement.domain.provenance import StepKind
from devlint.placement.domain.scope import Setting
from devlint.placement.domain.symbols import module_symbol
from devlint.placement.operations import device_questions
from devlint.placement.state import module_switches, ranks
from devlint.placement.state.decided_arms import as_decided
from devlint.placement.state.devices import named_at_least
from devlint.placement.syntax.nodes import code_of, path_of
from devlint.records import replace
from devlint.semantics import Dim, DType, library_models

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def attribute(interp: Interpreter, node: cst.Attribute) -> Value:
    owner = interp.evaluate(node.value)
    path = path_of(node)
    name = node.attr.value
    if path is not None:
        found = interp.state.values.get(path)
        if found is not None:
            if isinstance(owner, Self):
                interp.emit(Loaded(node, interp.scope, name, found))
            return found
    if isinstance(owner, (Tensor, Opaque)) and name in library_models.anywhere().host_attributes:
        return Tensor(
            CPU, Dim.NONZERO, dtype=DType.INT, provenance=interp.step(StepKind.GIVEN, node, CPU, code_of(node))
        )
    value = ranks.of_attribute(interp, node, owner) or attribute_of(interp, owner, name, node)
    if isinstance(owner, ProjectModule):
        value = module_switches.as_set(name, value)
    if isinstance(owner, ProjectModule) and isinstance(value, DeviceName) and interp.info is not None:
        interp.emit(GlobalRead(node, interp.scope, code_of(node), value, imported=True))
    if isinstance(owner, Self):
        if isinstance(value, DeviceName):
            value = replace(value, device=named_at_least(interp, value, value.device, node))
        interp.emit(Loaded(node, interp.scope, name, value))
    return value


def attribute_of(interp: Interpreter, owner: Value, name: str, node: cst.Attribute) -> Value:
    """The value of ``owner.name``."""
    if name == "dtype" and isinstance(owner, (Tensor, Opaque, Module, Host, UnknownValue)):
        return Host(is_dtype=True)
    match owner:
        case Reference():
            return reference(owner, name)
        case ProjectModule():
            return interp.program.member(owner, name)
        case Tensor():
            return _of_tensor(interp, owner, name, node)
        case Opaque():
            return _of_opaque(interp, owner, name, node)
        case Module():
            return _of_module(interp, owner, name, node)
        case Self():
            found = of_self(interp, owner, name)
            return as_decided(interp, found) if found != NOTHING else _inherited(interp, owner.info, name, node)
        case DeviceName():
            if name == "type":
                return replace(owner, is_type=True)
            return Host(number=True) if name == "index" else NOTHING
        case Instance():
            if library_objects.may_have_changed(interp, owner, node):
                return NOTHING
            detail = dict(owner.details).get(name)
            if detail is not None:
                return detail
            own = owner.info is not None
            return of_object(interp, owner, name, node) if own else library_objects.field(interp, owner, name, node)
        case Container(items=(), type="tuple", rest=Tensor() as part):
            # The fields of a named tuple: ``x.topk(k).indices``.
            return part
        case Container():
            return NOTHING
        case ClassValue():
            return static_attribute(owner, name) or NOTHING
        case Host():
            return owner if name in ("T", "real", "imag", "flat") else Host()
        case _:
            return NOTHING


def static_attribute(owner: Value, name: str) -> Value | None:
    """The attribute of a name outside the project, or of a class; None for other owners."""
    if isinstance(owner, Reference):
        return reference(owner, name)
    if isinstance(owner, ClassValue):
        method = owner.info.method(name)
        return of_class(owner, method) if method is not None else None
    return None


def of_class(owner: ClassValue, method: FunctionInfo) -> Function:
    """A method that is read from its class: a class method has the class for its first argument."""
    return Function(method, f"{owner.key}.{method.name}", owner if method.is_classmethod else None)


_NUMBERS = frozenset({"torch.pi", "torch.inf", "torch.nan", "torch.e", "math.pi", "torch.newaxis"})


def reference(owner: Reference, name: str) -> Value:
    qualified = canonical(f"{owner.name}.{name}")
    if qualified in _NUMBERS or library_models.is_number(qualified):
        return Host(number=True)
    return Reference(qualified)


def _of_tensor(interp: Interpreter, owner: Tensor, name: str, node: cst.Attribute) -> Value:
    if name == "device":
        certain = owner.evidence is Evidence.CERTAIN
        assumed = owner.provenance is not None and bool(owner.provenance.step.note)
        return DeviceName(
            owner.device,
            node,
            code_of(node),
            of_tensor=certain,
            by_convention=not certain and assumed,
            provenance=owner.provenance,
        )
    if name in ("is_cuda", "is_cpu", "is_meta", "is_xpu", "is_mps"):
        return device_questions.of_attribute(owner, name)
    if name in ("data", "grad") and owner.kind is Kind.PARAMETER:
        return replace(owner, kind=Kind.PLAIN)
    match semantics.is_tensor_attribute(name):
        case "tensor":
            return owner
        case "host":
            return Host(number=True)
        case _:
            # Not an attribute of Tensor: what came in is of another class that has a tensor's methods too, and keeps
            # its tensors together.
            if owner.kind is not Kind.PLAIN or not is_given(owner.device):
                return NOTHING
            note = CONVENTIONS[OF_ANOTHER_CLASS]
            held = interp.step(StepKind.GIVEN, node, owner.device, code_of(node), owner.provenance, note=note)
            return _of_opaque(interp, Opaque(owner.device, held), name, node)


_PLAIN_NAMES = ("num_", "n_", "len_", "is_", "has_", "use_", "max_", "min_")
_PLAIN_ENDINGS = ("_size", "_dim", "_len", "_length", "_name", "_type", "_id", "_fn", "_path", "_dims", "_count")
_PLAIN = frozenset(
    """
    shape size dtype ndim config training name names keys num_nodes num_edges num_graphs layout itemsize
    nbytes batch_size requires_grad cfg args hparams opt options settings meta metadata info attrs
    """.split()
)


def names_a_plain_value(name: str) -> bool:
    """Whether an attribute is called what sizes, switches and names are called."""
    return name in _PLAIN or name.startswith(_PLAIN_NAMES) or name.endswith(_PLAIN_ENDINGS)


def _of_opaque(interp: Interpreter, owner: Opaque, name: str, node: cst.Attribute) -> Value:
    if "cpu" in name.split("_") and name != "is_cpu":
        # Its name says where it was put: ``meta.lengths_cpu``.
        placed = interp.step(StepKind.MOVED, node, CPU, f".{name}", owner.provenance)
        return Opaque(CPU, placed, owner.tensorlike)
    if name in owner.fields:
        return as_tensor(owner)
    if name == "device":
        return DeviceName(_told_by_options(owner) or owner.device, node, code_of(node), of_tensor=owner.tensorlike)
    if name in ("is_cuda", "is_cpu"):
        return Truth(about_device=True)
    if names_a_plain_value(name):
        return Host()
    if name in TENSOR_ONLY:
        return NOTHING
    if name in ("weight", "bias") and not owner.tensorlike and isinstance(node.value, cst.Call):
        # Of a submodule that an accessor gives: ``net.get_input_embeddings().weight``.
        return _state_of_library(interp, owner.device, name, node)
    if name in library_models.anywhere().tensor_attributes:
        return Opaque(owner.device, owner.provenance, tensorlike=True)
    return Opaque(owner.device, owner.provenance, owner.tensorlike and name in ("T", "data", "grad", "mT"))


def _told_by_options(owner: Opaque) -> Device | None:
    """``config.device``, of options that came in: a device by its name, and not where some tensor is."""
    if owner.tensorlike or not is_of_parameter(owner.device) or not names_options(owner.device.symbol.name):
        return None
    return SameAs(replace(owner.device.symbol, name=f"{owner.device.symbol.name}.device"))


def _of_module(interp: Interpreter, owner: Module, name: str, node: cst.Attribute) -> Value:
    if owner.assumed:
        return NOTHING
    if name in _STATE:
        return _state_of_library(interp, owner.device, name, node)
    if name == "device":
        return DeviceName(owner.device, node, code_of(node))
    if name in ("training", "config", "in_features", "out_features", "num_embeddings", "embedding_dim"):
        return Host()
    if name in _NUMBERS_OF_LAYERS and owner.type_name.startswith("torch.nn."):
        return Host()
    if name == _WRAPPED and (owner.info is None or _has_no(interp, owner.info, name)):
        # ``self.model.module``, where ``self.model`` is a wrapper of it: the model as it was.
        return owner
    if owner.info is None:
        if names_a_part(owner, name):
            # A part of a model of unknown class, by its name: ``model.encoder``.
            return Module(owner.device, provenance=owner.provenance)
        return _of_unseen_module(interp, owner, name, node)
    found = _of_instance_of(interp, owner, owner.info, name)
    came_in = owner.provenance is not None and owner.provenance.step.kind is StepKind.GIVEN
    method = owner.info.method(name)
    if found != NOTHING or not came_in or (method is not None and not method.is_property):
        return found
    # What its methods store or compute is taken to be where a caller's object is, as of an object of unknown class.
    return _of_opaque(interp, Opaque(owner.device, owner.provenance), name, node)


_WRAPPED = "module"
"""Under this name DataParallel, DistributedDataParallel and their like keep the model that they wrap."""


def _has_no(interp: Interpreter, info: ClassInfo, name: str) -> bool:
    """Whether objects of a class of the project have no such attribute."""
    if info.method(name) is not None or interp.program.in_progress(info):
        return False
    kept = any(name in one.assigned_outside_init or name in one.set_in_body for one in info.order)
    return not kept and name not in interp.program.facts(info).attributes and info.is_module


def names_a_part(owner: Module, name: str) -> bool:
    """Whether a module that came in, and of which nothing more is known, has a part of that name."""
    came_in = owner.provenance is not None and owner.provenance.first.kind is StepKind.GIVEN
    return came_in and not owner.type_name and names_a_module(name) and not names_an_action(name)


def _of_unseen_module(interp: Interpreter, owner: Module, name: str, node: cst.Attribute) -> Value:
    """``self.bert.embeddings``: a part of a module whose class is not in sight is where the module is.

    Not of the layers of torch: what they keep beside their state are numbers.
    """
    known = owner.type_name.startswith("torch.nn.") and owner.type_name not in _WRAPPERS
    if known or not isinstance(owner.device, SameAs):
        return NOTHING
    return _of_opaque(interp, Opaque(owner.device, owner.provenance), name, node)


_WRAPPERS = frozenset({"torch.nn.DataParallel", "torch.nn.parallel.DistributedDataParallel"})
_NUMBERS_OF_LAYERS = frozenset(
    """
    kernel_size stride padding dilation groups in_channels out_channels output_padding padding_mode normalized_shape eps
    momentum affine num_features num_groups input_size hidden_size num_layers bidirectional batch_first embed_dim
    num_heads head_dim padding_idx p inplace negative_slope ignore_index reduction margin label_smoothing beta delta
    blank zero_infinity full log_input log_target swap threshold elementwise_affine track_running_stats max_norm
    norm_type sparse dropout proj_size ceil_mode return_indices output_size scale_factor align_corners upscale_factor
    start_dim end_dim dim unflattened_size n_classes cutoffs alpha lambd
    """.split()
)
"""Attributes of the modules of ``torch.nn`` that are numbers, switches, or tuples of numbers."""
_STATE = frozenset({"weight", "bias", "running_mean", "running_var", "in_proj_weight", "out_proj_weight"})
"""Parameters and buffers of the modules of ``torch.nn``."""


def _state_of_library(interp: Interpreter, device: Device, name: str, node: cst.Attribute) -> Tensor:
    provenance = interp.step(StepKind.GIVEN, node, device, code_of(node))
    kind = Kind.BUFFER if name.startswith("running") else Kind.PARAMETER
    return Tensor(device, Dim.NONZERO, kind=kind, evidence=Evidence.LIKELY, provenance=provenance)


def _inherited(interp: Interpreter, info: ClassInfo, name: str, node: cst.Attribute) -> Value:
    """``self.weight`` of a class that derives from a module of ``torch.nn`` with parameters: ``Norm(nn.LayerNorm)``."""
    if name not in _STATE or interp.program.in_progress(info) or interp.program.facts(info).attributes.get(name):
        return NOTHING
    bases = (base for one in info.order for base in one.resolved_bases if isinstance(base, str))
    if not any((known := semantics.module(base)) is not None and known.holds_state is True for base in bases):
        return NOTHING
    at_construction = interp.scope.setting is Setting.CONSTRUCTION
    return _state_of_library(interp, UNKNOWN if at_construction else SameAs(module_symbol(info)), name, node)


def _of_instance_of(interp: Interpreter, owner: Module, info: ClassInfo, name: str) -> Value:
    """An attribute of a Module of the project, with the module's device substituted for that of ``self``."""
    fact = interp.program.facts(info).attributes.get(name)
    if fact is None:
        return NOTHING
    value = fact.value
    if isinstance(value, Module) or (isinstance(value, Tensor) and value.kind in (Kind.PARAMETER, Kind.BUFFER)):
        moved = owner.provenance is not None and owner.provenance.step.kind is StepKind.MOVED
        if moved:
            return replace(value, device=owner.device, provenance=owner.provenance)
        # The class facts have the device in the constructor; the value has moved with its owner since, as has a
        # parameter that the constructor makes where it is handed none.
        return replace(value, device=owner.device) if CPU in leaves(value.device) else value
    if isinstance(value, Tensor):
        # Its methods may have stored another since, or brought it over.
        value = plain_tensor(interp, info, value, fact)
    return substitute(value, {module_symbol(info).key: owner}, interp, None)
