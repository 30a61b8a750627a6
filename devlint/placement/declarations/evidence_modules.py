"""What shows that a name is a Module: what takes nothing else, and attributes that layers have.

Sources: the containers and wrappers of ``torch.nn``, and the attributes that its layers document (torch/nn/modules).
"""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

import libcst as cst

from devlint.placement.declarations import evidence_conventions as conventions
from devlint.placement.declarations.evidence_grades import Grade, Shows, Sign
from devlint.placement.syntax.nodes import dotted

HOLDS_A_LAYER = Sign(Shows.MODULE, Grade.CONVENTIONAL, conventions.HAS_WHAT_LAYERS_HAVE)
HAS_A_MODULE = Sign(Shows.MODULE, Grade.CONVENTIONAL, conventions.HAS_A_MODULE)

_ALL = -1
_LIST = "torch.nn.ModuleList"

_TAKERS = MappingProxyType(
    {
        "torch.nn.Sequential": _ALL,
        _LIST: _ALL,
        **dict.fromkeys(
            """
            torch.nn.DataParallel torch.nn.parallel.DataParallel torch.nn.parallel.DistributedDataParallel
            torch.nn.parallel.distributed.DistributedDataParallel torch.distributed.fsdp.FullyShardedDataParallel
            torch.nn.utils.weight_norm torch.nn.utils.spectral_norm torch.nn.utils.parametrizations.weight_norm
            torch.nn.utils.parametrizations.spectral_norm torch.nn.utils.parametrizations.orthogonal
            torch.nn.utils.parametrize.register_parametrization torch.nn.utils.remove_weight_norm
            torch.nn.TransformerEncoder torch.nn.TransformerDecoder torch.optim.swa_utils.AveragedModel
            torch.func.functional_call torch.nn.utils.stateless.functional_call
            """.split(),
            1,
        ),
        "torch.nn.utils.fuse_conv_bn_eval": 2,
        "torch.nn.utils.fusion.fuse_conv_bn_eval": 2,
    }
)
"""How many of the first arguments of a function are Modules."""

_REGISTERING = frozenset({"add_module", "register_module"})

LAYER_ATTRIBUTES = frozenset(
    """
    in_features out_features running_mean running_var num_batches_tracked track_running_stats normalized_shape
    num_embeddings forward
    """.split()
)
"""Attributes that Modules and layers of ``torch.nn`` alone have, as a rule."""

PARAMETERS = frozenset({"weight", "bias"})
"""Parameters of a layer: what has both is one, and what is called as layers are and has one of them."""

OF_A_PARAMETER = frozenset("data dim size numel shape ndim device dtype grad requires_grad".split())
"""What is read of a parameter: ``layer.weight.shape`` is of a layer."""

MODULE_CLASSES = frozenset({"torch.nn.Module", "torch.nn.modules.Module", "torch.nn.modules.module.Module"})

KEEPING = frozenset({"to", "cuda", "cpu", "float", "half", "double", "eval", "train", "requires_grad_"})
"""Methods that give the Module itself."""


def class_made(node: cst.BaseExpression) -> str:
    """``Layer``, of ``Layer(8)`` and ``Layer(8).to(device).eval()``; empty for what is no construction, by its name."""
    while (
        type(node) is cst.Call
        and type(node.func) is cst.Attribute
        and type(node.func.value) is cst.Call
        and node.func.attr.value in KEEPING
    ):
        node = node.func.value
    return class_called(node)


def class_called(node: cst.BaseExpression) -> str:
    """``Layer``, of ``Layer(8)`` itself; empty for any other call and all else."""
    name = (dotted(node.func) or "") if type(node) is cst.Call else ""
    return name if name.rpartition(".")[2][:1].isupper() else ""


def taken(call: cst.Call, name: str) -> Iterator[str]:
    """The names of the arguments that a call takes for Modules; ``name`` is the full one of what is called."""
    if type(call.func) is cst.Attribute and call.func.attr.value in _REGISTERING and len(call.args) == 2:
        yield from _modules_in(call.args[1].value)
        return
    count = _TAKERS.get(name)
    if count is None:
        return
    for argument in call.args if count == _ALL else call.args[:count]:
        several = name == _LIST and type(argument.value) is cst.Name
        if not (several or argument.star or argument.keyword is not None):
            yield from _modules_in(argument.value)


def _modules_in(node: cst.BaseExpression) -> Iterator[str]:
    """``layer``, of ``layer``, ``[layer, head]``, ``[deepcopy(layer) for _ in range(n)]``."""
    match node:
        case cst.Name():
            yield node.value
        case cst.List() | cst.Tuple():
            for element in node.elements:
                yield from copied(element.value)
        case cst.ListComp() | cst.GeneratorExp():
            yield from copied(node.elt)
        case _:
            yield from copied(node)


def copied(node: cst.BaseExpression) -> Iterator[str]:
    """``layer``, of ``layer`` and ``copy.deepcopy(layer)``."""
    if type(node) is cst.Call and (dotted(node.func) or "").rpartition(".")[2] == "deepcopy" and node.args:
        node = node.args[0].value
    if type(node) is cst.Name:
        yield node.value
