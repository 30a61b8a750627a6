"""What sets the device of a tensor made by each factory: measured on the CPU, with `meta` as the other device.

Each factory is called without a device, with `device="meta"`, inside `with torch.device("meta")` and after
`set_default_device("meta")`. Its input tensors are made outside the context, or the result would prove nothing.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import torch

from devlint.semantics import tables
from devlint.semantics.generate.names import PythonName, lookup, parameters

Row = dict[str, Any]

# The arguments each factory is called with; `x` is a CPU tensor of shape (2, 2), `v` one of shape (3,).
_WINDOWS = ("bartlett", "blackman", "cosine", "hamming", "hann", "kaiser", "nuttall", "exponential", "gaussian")
CALLS: dict[str, str] = {
    **dict.fromkeys(("torch.empty", "torch.zeros", "torch.ones", "torch.rand", "torch.randn", "torch.randperm"), "3"),
    **dict.fromkeys((f"torch.{w}_window" for w in ("bartlett", "blackman", "hamming", "hann", "kaiser")), "4"),
    **dict.fromkeys((f"torch.signal.windows.{w}" for w in _WINDOWS), "4"),
    **dict.fromkeys(("torch.signal.windows.general_cosine",), "4, a=[0.5, 0.5]"),
    **dict.fromkeys(("torch.signal.windows.general_hamming", "torch.eye", "torch.arange"), "4"),
    **dict.fromkeys(("torch.fft.fftfreq", "torch.fft.rfftfreq"), "4"),
    **dict.fromkeys(("torch.linspace", "torch.logspace"), "0, 1, 3"),
    **dict.fromkeys(("torch.tril_indices", "torch.triu_indices"), "2, 2"),
    **dict.fromkeys(
        tuple(f"torch.{n}_like" for n in ("empty", "zeros", "ones", "rand", "randn")),
        "x",
    ),
    **dict.fromkeys(("Tensor.new_empty", "Tensor.new_ones", "Tensor.new_zeros"), "x, (3,)"),
    **dict.fromkeys(("torch.tensor", "torch.as_tensor", "torch.asarray"), "[1.0, 2.0]"),
    "torch.empty_permuted": "(3,), (0,)",
    "torch.empty_strided": "(3,), (1,)",
    "torch.full": "(3,), 1.0",
    "torch.randint": "5, (3,)",
    "torch.scalar_tensor": "1.0",
    "torch.range": "0, 3",
    "torch.full_like": "x, 1.0",
    "torch.randint_like": "x, 5",
    "torch.sparse_coo_tensor": "[[0, 1]], [1.0, 2.0], (3,)",
    "Tensor.new_full": "x, (3,), 1.0",
    "Tensor.new_empty_strided": "x, (3,), (1,)",
    "Tensor.new_tensor": "x, [1.0]",
    "Tensor.new": "x, 3",
    "torch.from_numpy": "v.numpy()",
    "torch.frombuffer": "bytearray(12), dtype=torch.float32",
    "torch.nested.nested_tensor": "[[1.0], [2.0]]",
    "torch.nn.Transformer.generate_square_subsequent_mask": "3",
}

RANDOM = ("rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like")
INTEGERS = ("arange", "randperm", "randint", "tril_indices", "triu_indices", "randint_like")
BOUNDS = ("arange", "linspace", "logspace")


def factory_rows(names: dict[str, PythonName]) -> dict[str, Row]:
    """One row for each measured factory; those that cannot be measured are written by hand."""
    by_hand = tables.rows("factories_by_hand")
    found: dict[str, Row] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, call in CALLS.items():
            found[name] = _measure(name, call) | _parameters(name, names) | _static(name)
    return {**found, **{name: {**found.get(name, {}), **row} for name, row in by_hand.items()}}


def _measure(name: str, call: str) -> Row:
    make = lookup(name)
    assert callable(make), name
    x, v = torch.ones(2, 2), torch.ones(3)
    arguments = f"make({call}"

    def run(extra: str = "") -> Any:
        return eval(f"{arguments}{extra})", {"make": make, "x": x, "v": v, "torch": torch})

    plain, given = run(), _succeeds(run, ', device="meta"')
    with torch.device("meta"):
        context = run().device.type == "meta"
    takes_tensor = call.startswith("x")
    default = "self" if name.startswith("Tensor.") else "input" if takes_tensor else "default_device"
    if default == "default_device" and not context:
        default = "default_tensor_type" if given else "cpu"
    return {"takes_device": given, "default": default, "context": context, "shape": _shape(name, plain)}


def _succeeds(run: Callable[[str], Any], extra: str) -> bool:
    try:
        return bool(run(extra).device.type == "meta")
    except (RuntimeError, TypeError):
        return False


def _shape(name: str, plain: torch.Tensor) -> str:
    short = name.rsplit(".", 1)[-1]
    if short == "scalar_tensor":
        return "zero"
    if short.endswith("_like"):
        return "same"
    sized = ("empty", "zeros", "ones", "full", "rand", "randn", "randint", "empty_strided", "empty_permuted")
    unknown = (*sized, "tensor", "as_tensor", "asarray", "new", "as_nested_tensor", "sparse_coo_tensor")
    return "unknown" if short.removeprefix("new_") in unknown else "nonzero"


def _static(name: str) -> Row:
    short = name.rsplit(".", 1)[-1]
    row: Row = {"tag": "M"}
    if short in RANDOM:
        row["random"] = True
    if short in INTEGERS:
        row["dtype"] = "int" if short not in ("arange", "randint_like") else "unknown"
    elif short not in ("tensor", "as_tensor", "asarray", "full", "full_like"):
        row["dtype"] = "other" if "_like" not in short and not short.startswith("new") else "unknown"
    if short in BOUNDS:
        row["reads_bounds"] = True
    if row.get("dtype") == "unknown":
        del row["dtype"]
    return row


def _parameters(name: str, names: dict[str, PythonName]) -> Row:
    if name in names:
        found = [(p.name, p.keyword_only) for p in parameters(names[name])]
    else:
        made = lookup(name)
        try:
            signature = inspect.signature(made)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            return {}
        found = [(p.name, p.kind is p.KEYWORD_ONLY) for p in signature.parameters.values()]
    positional = " ".join(n for n, keyword in found if not keyword)
    return {"parameters": f"{positional} * " + " ".join(n for n, keyword in found if keyword)}
