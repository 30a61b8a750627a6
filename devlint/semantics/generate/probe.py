"""Judging a Python function by running it with labelled tensors, one argument at a time on the wrong device."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._pytree import tree_map

from devlint.semantics.generate.labels import C, Clashed, H, Labels, Lookup
from devlint.semantics.generate.samples import Sample
from devlint.semantics.operation import Operation, Parameter, Rule
from devlint.semantics.record.row import tensors_in

Row = dict[str, Any]
Key = int | str


@dataclass
class Seen:
    """What happened to one argument: clashes (True) and passes (False), in each of the trials."""

    left_behind: list[bool] = field(default_factory=list)
    """The argument on the CPU, all others elsewhere; not 0-dim."""
    sent_ahead: list[bool] = field(default_factory=list)
    """The argument elsewhere, all others on the CPU; not 0-dim."""
    scalar: list[bool] = field(default_factory=list)
    """The argument a 0-dim CPU tensor, all others elsewhere."""
    all_scalar: list[bool] = field(default_factory=list)
    """The same with all others 0-dim too."""


@dataclass
class Trials:
    """All trials of one function."""

    arguments: dict[Key, Seen] = field(default_factory=dict)
    kinds: Counter[str] = field(default_factory=Counter)
    reached: Counter[str] = field(default_factory=Counter)
    rules: set[Rule] = field(default_factory=set)
    """Of the kernels reached."""
    widest: int = 0
    """The most operands one of the kernels reached takes at once, where several CPU scalars would crowd it."""
    ran: int = 0


def try_all(samples: Sequence[Sample], lookup: Lookup) -> Trials:
    """Run every sample once per tensor argument and placement."""
    trials = Trials()
    for sample in samples:
        if not _runs(sample):
            continue
        trials.ran += 1
        keys = sample.positions()
        if len(keys) < 2 and not _is_list(sample, keys):
            continue
        for key in keys:
            _try_argument(trials, sample, key, lookup)
    return trials


def _is_list(sample: Sample, keys: list[Key]) -> bool:
    return any(len(list(tensors_in(sample.at(key)))) > 1 for key in keys)


def _try_argument(trials: Trials, sample: Sample, key: Key, lookup: Lookup) -> None:
    seen = trials.arguments.setdefault(key, Seen())
    inside = list(tensors_in(sample.at(key)))
    alone = len(sample.positions()) == 1
    scalar = all(t.dim() == 0 for t in inside)
    others = [t for k in sample.positions() if k != key for t in tensors_in(sample.at(k))]
    if not scalar:
        seen.left_behind.append(_clashes(trials, sample, key, H, C, alone, lookup))
        if all(t.dim() for t in others):
            seen.sent_ahead.append(_clashes(trials, sample, key, C, H, alone, lookup))
    _try_all_scalar(trials, sample, key, lookup)
    single = isinstance(sample.at(key), torch.Tensor)
    others_scalar = all(t.dim() == 0 for t in others)
    if scalar and not others_scalar:
        seen.scalar.append(_clashes(trials, sample, key, H, C, alone, lookup))
    elif single and not alone and inside[0].numel() and not others_scalar:
        shrunk = sample.with_argument(key, inside[0].flatten()[0].clone())
        if _runs(shrunk):
            seen.scalar.append(_clashes(trials, shrunk, key, H, C, alone, lookup))


def _try_all_scalar(trials: Trials, sample: Sample, key: Key, lookup: Lookup) -> None:
    values = {k: sample.at(k) for k in sample.positions()}
    if len(values) < 2 or not all(isinstance(v, torch.Tensor) and v.numel() for v in values.values()):
        return
    for k, value in values.items():
        sample = sample.with_argument(k, value.flatten()[0].clone())
    # What has no dimension takes 0 for one.
    at_first = Sample(sample.call, tuple(0 if type(a) is int else a for a in sample.args), sample.kwargs)
    sample = sample if _runs(sample) else at_first
    if _runs(sample):
        trials.arguments[key].all_scalar.append(_clashes(trials, sample, key, H, C, False, lookup))


def _clashes(trials: Trials, sample: Sample, key: Key, here: str, there: str, alone: bool, lookup: Lookup) -> bool:
    """Whether the call clashes with the argument on `here` and the others on `there`.

    When the argument is the only one, it is a list and its own first element is put apart.
    """
    own = _copied(sample)
    labels = Labels(lookup)
    for position in own.positions():
        for index, tensor in enumerate(tensors_in(own.at(position))):
            apart = index == 0 if alone else position == key
            labels.put(tensor, here if apart else there)
    try:
        with torch.no_grad(), labels:
            own.run()
    except Clashed as clash:
        trials.kinds[clash.kind] += 1
        trials.reached[clash.operation] += 1
        return True
    except (RuntimeError, AttributeError):
        return False
    trials.reached.update(set(labels.seen))
    met = [lookup(name) for name in labels.seen]
    trials.rules |= {operation.rule for operation in met}
    trials.widest = max(trials.widest, *map(_operands, met), 0)
    return False


def _operands(operation: Operation) -> int:
    return len(operation.parameters) if operation.rule is Rule.TENSOR_ITERATOR else 2


def _copied(sample: Sample) -> Sample:
    """Tensors with storages of their own: samples share and overlap."""

    def copy(value: Any) -> Any:
        return value.detach().clone() if isinstance(value, torch.Tensor) else value

    return Sample(sample.call, tree_map(copy, sample.args), tree_map(copy, sample.kwargs))


def _runs(sample: Sample) -> bool:
    try:
        _copied(sample).run()
    except Exception:
        return False
    return True


def derive(trials: Trials, parameters: Sequence[Parameter], direct: bool) -> Row:
    """A row from the trials; the rule is "unknown" where they do not fit one of the plain rules."""
    if not trials.arguments:
        return {}
    names = [p.name for p in parameters]
    zero: list[str] = []
    free: list[str] = []
    strict: list[str] = []
    odd: list[str] = []
    for key, seen in trials.arguments.items():
        name = names[key] if isinstance(key, int) and key < len(names) else str(key)
        apart = seen.left_behind + seen.sent_ahead
        if not apart and not seen.scalar:
            continue
        if apart and not any(apart) and not any(seen.scalar):
            free.append(name)
        elif apart and all(apart) and (all(seen.scalar) or not any(seen.scalar)):
            (zero if seen.scalar and not any(seen.scalar) else strict).append(name)
        elif not apart and all(seen.scalar):
            strict.append(name)
        elif not apart and not any(seen.scalar):
            zero.append(name)
        else:
            odd.append(name)
    return _row(trials, zero, free, strict, odd, direct)


def _row(trials: Trials, zero: list[str], free: list[str], strict: list[str], odd: list[str], direct: bool) -> Row:
    often = sorted(trials.reached, key=lambda name: (-trials.reached[name], name))
    basis = ", ".join(sorted(often[:3]))
    row: Row = {"basis": basis}
    if trials.kinds:
        row["clash"] = min(trials.kinds, key=lambda kind: (-trials.kinds[kind], kind))
    if odd or ((zero or free) and not direct and (strict or (zero and free))):
        return {**row, "rule": "unknown", "odd": " ".join(odd) or "order of arguments"}
    if not strict and not zero:
        return {**row, "rule": "any_device"}
    if not zero and not free and all(_passes_among_scalars(seen) for seen in trials.arguments.values()):
        # What refuses a 0-dim operand beside others and takes it among its like has expanded them to one shape.
        row["rule"] = "broadcast_where" if trials.rules == {Rule.WHERE} else "broadcast_first"
        return {**row, "zero_dim": " ".join(sorted(strict)), **_steps(trials)}
    row["rule"] = "tensor_iterator" if zero else "conv" if row.get("clash") == "conv_type" else "exact_same"
    if zero:
        row |= {"zero_dim": " ".join(sorted(zero)), **_steps(trials)}
    if free:
        row["free"] = " ".join(sorted(free))
    return row


def _passes_among_scalars(seen: Seen) -> bool:
    return bool(seen.all_scalar) and not any(seen.all_scalar)


def _steps(trials: Trials) -> Row:
    return {"steps": True} if len(trials.arguments) > 2 and trials.widest < 3 else {}
