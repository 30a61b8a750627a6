"""What a result looks like: 0-dim or not, bool or integer, one tensor or several. Observed over sample calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from devlint.semantics.generate.samples import Sample
from devlint.semantics.operation import Parameter
from devlint.semantics.record.row import tensors_in

Row = dict[str, Any]

REDUCES = ("dim", "axis", "dims", "reduction", "size_average", "reduce", "axes", "ord")
"""Parameters by which a reduction may keep dimensions."""


@dataclass(frozen=True)
class Observed:
    """One call that ran: dims of the tensor arguments, of the result, and the reducing parameters it was given."""

    inputs: tuple[int, ...]
    output: int
    dtype: torch.dtype
    floating: bool
    reduced_by: frozenset[str]
    several: bool


def observe(samples: Sequence[Sample], parameters: Sequence[Parameter]) -> list[Observed]:
    """Run every sample, and once more with its tensors made 0-dim where that works."""
    found = []
    for sample in samples:
        for call in (sample, _shrunk(sample)):
            one = _observe(call, parameters)
            if one is not None:
                found.append(one)
    return found


def _shrunk(sample: Sample) -> Sample:
    def shrink(value: Any) -> Any:
        return value.flatten()[0].clone() if isinstance(value, torch.Tensor) and value.numel() else value

    return Sample(sample.call, tuple(shrink(a) for a in sample.args), {k: shrink(v) for k, v in sample.kwargs.items()})


def _observe(sample: Sample, parameters: Sequence[Parameter]) -> Observed | None:
    inputs = [t.detach().clone() for t in tensors_in([*sample.args, sample.kwargs]) if t.layout is torch.strided]
    dims = tuple(t.dim() for t in inputs)
    try:
        result = sample.run()
    except Exception:
        return None
    outputs = [t for t in tensors_in(result) if t.layout is torch.strided]
    if not outputs:
        return None
    given = [name for name, value in sample.kwargs.items() if value is not None]
    given += [p.name for p, value in zip(parameters, sample.args, strict=False) if value is not None]
    aliases = {p.name: p.also for p in parameters}
    reduced = {n for g in given for n in (g, *aliases.get(g, ())) if n in REDUCES}
    return Observed(
        dims,
        outputs[0].dim(),
        outputs[0].dtype,
        any(t.is_floating_point() for t in inputs),
        frozenset(reduced),
        isinstance(result, list | tuple),
    )


def conclude(observed: Sequence[Observed], pointwise: bool, parameters: Sequence[Parameter]) -> Row:
    """The classes that hold in every observation; nothing where they do not."""
    if not observed:
        return {}
    row: Row = {}
    shape, reduced = _shape(observed, pointwise, parameters)
    if shape != "unknown":
        row["shape"] = shape
    if reduced:
        row["reduced_by"] = reduced
    if all(o.dtype is torch.bool for o in observed) and any(o.floating for o in observed):
        row["dtype"] = "bool"
    elif all(o.dtype is torch.int64 for o in observed) and any(o.floating for o in observed):
        row["dtype"] = "int"
    if all(o.several for o in observed):
        row["tuple"] = True
    return row


def _shape(observed: Sequence[Observed], pointwise: bool, parameters: Sequence[Parameter]) -> tuple[str, str]:
    tensors = sum(p.kind == "tensor" and p.name != "out" for p in parameters)
    broadcasts = all(o.output == max(o.inputs, default=0) for o in observed)
    if pointwise and broadcasts:
        return ("broadcast" if tensors > 1 else "same"), ""
    bare = [o for o in observed if not o.reduced_by and any(o.inputs)]
    reducers = [n for p in parameters for n in (p.name, *p.also) if n in REDUCES]
    if reducers and bare and all(o.output == 0 for o in bare):
        return "reduction", " ".join(dict.fromkeys(reducers))
    scalars = [o for o in observed if not any(o.inputs)]
    shaped = [o for o in observed if any(o.inputs)]
    if scalars and shaped and all(o.output == o.inputs[0] for o in observed if o.inputs) and tensors == 1:
        return "same", ""
    if len(shaped) > 2 and all(o.output > 0 for o in observed):
        return "nonzero", ""
    if len({o.inputs for o in shaped}) > 2 and all(o.output == 0 for o in observed):
        return "zero", ""
    return "unknown", ""
