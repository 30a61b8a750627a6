"""`torch.autocast` of the accelerator: what runs in the lower precision, in float32, and in the widest dtype given.

PyTorch does this below its functions, by a dispatch key that CPU tensors do not have. Here the functions that a program
calls are looked at instead, by name. What such a function calls inside of C++ follows its own dtype.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_map_only

from devlint.runtime.simulated.machine import Machine

Tensor = torch.Tensor

# The lists of ATen/autocast_mode.h (AT_FORALL_LOWER_PRECISION_FP, _FP32, _FP32_SET_OPT_DTYPE, _PROMOTE), by the names
# that Python has for them; and the recurrent layers, which autocast_mode.cpp has a wrapper of its own for.
_LOWER = frozenset(
    """_convolution conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d convolution prelu
    addmm addmv addr matmul einsum mm mv linalg_vecdot linear addbmm baddbmm bmm chain_matmul linalg_multi_dot lstm gru
    rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell scaled_dot_product_attention __rmatmul__""".split()
)
_FLOAT32 = frozenset(
    """acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan pow __rpow__ softplus layer_norm
    native_layer_norm rms_norm group_norm nuclear_norm cosine_similarity poisson_nll_loss cosine_embedding_loss nll_loss
    nll_loss_nd cross_entropy_loss hinge_embedding_loss kl_div l1_loss smooth_l1_loss huber_loss mse_loss
    margin_ranking_loss multilabel_margin_loss soft_margin_loss triplet_margin_loss multi_margin_loss
    binary_cross_entropy_with_logits dist pdist cdist renorm logsumexp upsample_nearest1d _upsample_nearest_exact1d
    upsample_nearest2d _upsample_nearest_exact2d upsample_nearest3d _upsample_nearest_exact3d upsample_linear1d
    upsample_bilinear2d _upsample_bilinear2d_aa upsample_trilinear3d upsample_bicubic2d _upsample_bicubic2d_aa
    prod softmax log_softmax cumprod cumsum linalg_vector_norm linalg_matrix_norm sum norm""".split()
)
_WIDEST = frozenset(
    "addcdiv addcmul atan2 bilinear cross dot vdot grid_sampler index_put tensordot scatter_add".split()
)

_BANNED = "binary_cross_entropy"
_BANNED_TEXT = (
    "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.\n"
    "Many models use a sigmoid layer right before the binary cross entropy layer.\n"
    "In this case, combine the two layers using torch.nn.functional.binary_cross_entropy_with_logits\n"
    "or torch.nn.BCEWithLogitsLoss.  binary_cross_entropy_with_logits and BCEWithLogits are\n"
    "safe to autocast."
)


def cast(machine: Machine, func: Any, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The arguments as autocast hands them on. Raises what it raises for the one function that it refuses."""
    name = getattr(func, "__name__", "")
    if kwargs.get("out") is not None or not (name in _LOWER or name in _FLOAT32 or name in _WIDEST or name == _BANNED):
        return args, kwargs
    tensors = [t for t in torch.utils._pytree.tree_leaves((args, kwargs)) if _is_cast(machine, t)]
    if not tensors:
        return args, kwargs
    if name == _BANNED:
        raise RuntimeError(_BANNED_TEXT)
    if name in _WIDEST:
        lower = torch.get_autocast_dtype(machine.type)
        wanted = torch.float32 if any(t.dtype == torch.float32 for t in tensors) else lower
    else:
        wanted = torch.get_autocast_dtype(machine.type) if name in _LOWER else torch.float32

    def one(tensor: Tensor) -> Tensor:
        return tensor.to(wanted) if tensor.dtype != wanted and _is_cast(machine, tensor) else tensor

    casted: tuple[Any, dict[str, Any]] = tree_map_only(Tensor, one, (args, kwargs))
    return casted


def _is_cast(machine: Machine, value: Any) -> bool:
    """Source: `is_eligible` in autocast_mode.h."""
    if not isinstance(value, Tensor) or not value.is_floating_point() or value.dtype == torch.float64:
        return False
    return machine.device_of(value).type == machine.type
