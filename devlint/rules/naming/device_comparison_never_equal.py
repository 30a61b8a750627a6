"""A tensor's device is compared with something it never equals.

## What it does

Finds comparisons of a tensor's own `.device` with a string (`x.device == "cuda"`), with a device that has no index
(`x.device == torch.device("cuda")`), and by identity (`x.device is torch.device("cpu")`). Also a device that
`torch.device(...)` made, with a string, and any device, or name of one, that is compared with several names at once by
`==`: `device == ["cuda", "gpu"]`.

## Why is this bad

A `torch.device` never equals a string. A tensor on an accelerator is always on a numbered one, so its device is
`cuda:0` and never the index-less `cuda`. `.device` makes a new object each time it is read, so `is` never holds. The
branch is dead, or always taken, on every machine and without a word.

## Example

```python
import torch


def to_host(x: torch.Tensor) -> torch.Tensor:
    if x.device == "cuda":
        x = x.cpu()
    return x
```

## Use instead

```python
import torch


def to_host(x: torch.Tensor) -> torch.Tensor:
    if x.device.type == "cuda":
        x = x.cpu()
    return x
```

## When it is right

- `x.device == torch.device("cpu")` and `== torch.device("cuda:0")`: these can hold.
- `x.device == y.device`, `x.device == device`: a device from elsewhere may have an index.
- The left side is no tensor's device but one that was given, stored or configured (`args.device`, `self.device`): it
  may be a string, unless it is seen to be made by `torch.device(...)`.
- The branch only moves a value to where it is anyway, `if x.device != "cpu": x = x.cpu()`: it makes no difference.

## Fix safety

Unsafe: a branch that never ran starts to run.

## How a run confirms it

The comparison is looked at as it runs, on the accelerator and without one: both sides name one device, or one kind of
device, and it says that they differ. A comparison with another kind of device proves nothing.

## Known problems

A device that went through `str(...)` before the comparison is not followed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint.drafts.changes import Replace
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import code_of, quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.declarations.evidence_conventions import CONVENTIONS, HAS_A_DEVICE
from devlint.placement.domain.abstract_values import Constant, Container, DeviceName, Value
from devlint.placement.domain.lattice import Known
from devlint.rules.naming.same_arms import come_to_the_same, is_a_number
from devlint.rules.rule import Rule

if TYPE_CHECKING:
    import libcst as cst

    from devlint.drafts.changes import Change
    from devlint.placement.domain.events import Begun, Compared
    from devlint.placement.domain.scope import Scope

NO_STRING = "a device never equals a string"
INDEXED_ONLY = "a tensor's device always has an index"


class DeviceComparisonNeverEqual(Rule):
    code = "DEV305"
    name = "device-comparison-never-equal"
    severity = Severity.ERROR
    error_when_confirmed = True

    def __init__(self) -> None:
        self._begun: dict[Scope, Begun] = {}

    def begun(self, event: Begun) -> Iterable[Draft]:
        self._begun[event.scope] = event
        return ()

    def compared(self, event: Compared) -> Iterable[Draft]:
        sides = [(event.left, event.left_node, event.right, event.right_node)]
        if event.operator in ("==", "!=", "is", "is not"):
            sides.append((event.right, event.right_node, event.left, event.left_node))
        for own, own_node, other, other_node in sides:
            if _is_one_against_several(event.operator, own, other, other_node):
                yield _never_one_of(event, own_node, other_node)
                return
            # What an object keeps under `.device` may be a string (fixture `stored_device`).
            if not isinstance(own, DeviceName) or own.is_type or not _is_no_string(own):
                continue
            if not own.of_tensor and not _differs_from_any(own, event.operator, other, other_node):
                continue
            why = _why_never(event.operator, other, other_node)
            if why is None:
                continue
            holds = _outcome(event.operator) == "true"
            if come_to_the_same(event, self._begun.get(event.scope), own_node, other, holds):
                # What is on the CPU is moved to the CPU (fixture `same_arms`).
                return
            yield Draft(
                node=event.node,
                scope=event.scope,
                message=f"{quoted(event.node, 'the comparison')} is always {_outcome(event.operator)}: {why}",
                confidence=Confidence.HIGH if _is_seen(own) else Confidence.MEDIUM,
                trace=() if _is_seen(own) else (DraftStep(own_node, event.scope, CONVENTIONS[HAS_A_DEVICE]),),
                repair=_repair(event, own_node, other),
            )
            return


def _is_seen(own: DeviceName) -> bool:
    return own.of_tensor or own.is_object


def _is_no_string(own: DeviceName) -> bool:
    return own.by_convention or _is_seen(own)


def _differs_from_any(own: DeviceName, operator: str, other: Value, other_node: cst.BaseExpression) -> bool:
    """Whether what is no tensor's own device cannot equal the other side, whatever index it has.

    A device that the program made has the index that it was made with.
    """
    if own.is_object:
        return operator in ("==", "!=", "in", "not in") and _why_never(operator, other, other_node) == NO_STRING
    return _spells_no_index(other, other_node)


def _is_one_against_several(operator: str, own: Value, other: Value, other_node: cst.BaseExpression) -> bool:
    """``device == ["cuda", "gpu"]``: a device or its name beside a list of names that is written right here."""
    import libcst as cst

    names = (
        other.items if isinstance(other, Container) and isinstance(other_node, (cst.List, cst.Tuple, cst.Set)) else ()
    )
    one = isinstance(own, DeviceName) and not own.is_type
    return one and operator in ("==", "!=") and bool(names) and all(_is_string(name) for name in names)


def _never_one_of(event: Compared, own: cst.BaseExpression, several: cst.BaseExpression) -> Draft:
    operator = "in" if event.operator == "==" else "not in"
    written = f"{code_of(own)} {operator} {code_of(several)}"
    return Draft(
        node=event.node,
        scope=event.scope,
        message=f"{quoted(event.node, 'the comparison')} is always {_outcome(event.operator)}: one device never equals "
        "several names",
        confidence=Confidence.HIGH,
        repair=Repair(Applicability.UNSAFE, f"`{written}`", _written_instead(event, written)),
    )


def _why_never(operator: str, other: Value, node: cst.BaseExpression) -> str | None:
    if operator in ("is", "is not"):
        nothing = isinstance(other, Constant) and other.value is None
        return None if nothing else "`.device` is a new object each time it is read"
    if operator in ("in", "not in"):
        items = other.items if isinstance(other, Container) and other.rest is None else ()
        strings = items and all(_is_string(item) for item in items)
        return NO_STRING if strings else None
    if operator not in ("==", "!="):
        return None
    if _is_string(other):
        return NO_STRING
    if is_a_number(other):
        return f"{quoted(node, 'the other side')} is a number, which a device never equals"
    if _spells_no_index(other, node):
        return f"{quoted(node, 'the other device')} has no index and {INDEXED_ONLY}"
    return None


def _is_string(value: Value) -> bool:
    return isinstance(value, Constant) and isinstance(value.value, str)


def _spells_no_index(value: Value, node: cst.BaseExpression) -> bool:
    """`torch.device("cuda")` written right here. A variable may have got an index elsewhere."""
    import libcst as cst

    if not isinstance(node, cst.Call) or not isinstance(value, DeviceName) or value.chosen_by_probe:
        return False
    device = value.device
    return isinstance(device, Known) and device.type not in ("cpu", "meta") and device.index is None


def _outcome(operator: str) -> str:
    return "true" if operator in ("!=", "is not", "not in") else "false"


def _repair(event: Compared, own: cst.BaseExpression, other: Value) -> Repair:
    left = code_of(own)
    operator = {"is": "==", "is not": "!="}.get(event.operator, event.operator)
    text = other.value if isinstance(other, Constant) else _type_of(other)
    if is_a_number(other):
        number = event.right_node if own is event.left_node else event.left_node
        written = f"{left}.index {operator} {code_of(number)}"
    elif operator in ("in", "not in"):
        indexed = isinstance(other, Container) and any(":" in str(getattr(i, "value", "")) for i in other.items)
        queried = f"str({left})" if indexed else f"{left}.type"
        written = f"{queried} {operator} {code_of(event.right_node)}"
    elif not isinstance(text, str):
        written = f"{code_of(event.left_node)} {operator} {code_of(event.right_node)}"
    elif ":" in text:
        # A tensor's device has its index in its name, and the file need not have imported torch for this.
        written = f'str({left}) {operator} "{text}"'
    else:
        written = f'{left}.type {operator} "{text}"'
    return Repair(Applicability.UNSAFE, f"`{written}`", _written_instead(event, written))


def _written_instead(event: Compared, written: str) -> tuple[Change, ...]:
    import libcst as cst

    alone = isinstance(event.node, cst.Comparison) and len(event.node.comparisons) == 1
    return (Replace(event.node, written),) if alone and "#" not in code_of(event.node) else ()


def _type_of(value: Value) -> str | None:
    if isinstance(value, DeviceName) and isinstance(value.device, Known) and value.device.index is None:
        return value.device.type
    return None
