"""A function that asks about a device is used as a truth value without being called.

## What it does

Finds `if torch.cuda.is_available:` and the other functions that ask for a device or a backend, where their name stands
as a condition or is compared with a number or a truth value.

## Why is this bad

A function is always true. The branch for machines with an accelerator runs on every machine and raises where there is
none; the other branch is dead.

## Example

```python
import torch


def pick() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available else "cpu")
```

## Use instead

```python
import torch


def pick() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
```

## When it is right

- The function is called, or only handed on: `@skipUnless(...)`, a callback, a patch in a test.
- It is compared with another function, or with `None` to see whether this version of PyTorch has it.

## Fix safety

Unsafe: on a machine without an accelerator the branch that always ran stops running.

## How a run confirms it

On a CPU-only machine the branch for accelerators is entered.

## Known problems

A function kept in a container or an attribute and tested later is not followed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint import semantics
from devlint.drafts.changes import Surround
from devlint.drafts.draft import Draft, Repair
from devlint.drafts.wording import code_of
from devlint.finding import Applicability, Severity
from devlint.placement.domain.abstract_values import Constant, Reference, Value
from devlint.rules.rule import Rule

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Called, Compared, Event, Tested


class ProbeNotCalled(Rule):
    code = "DEV304"
    name = "probe-not-called"
    severity = Severity.ERROR

    def tested(self, event: Tested) -> Iterable[Draft]:
        yield from _always_true(event, event.node, event.value)

    def called(self, event: Called) -> Iterable[Draft]:
        """`bool(torch.cuda.is_available)` tests it as well."""
        argument = event.call.argument("x", 0) if event.name == "bool" else None
        if argument is not None:
            yield from _always_true(event, argument.node, argument.value)

    def compared(self, event: Compared) -> Iterable[Draft]:
        """`device_count > 1` raises and `is_available == True` never holds; `is None` asks for the function itself."""
        sides = ((event.left, event.left_node, event.right), (event.right, event.right_node, event.left))
        for value, node, other in sides:
            name = _probe(value)
            if name is not None and isinstance(other, Constant) and isinstance(other.value, (bool, int)):
                consequence = "the comparison raises" if event.operator[0] in "<>" else "it never equals that value"
                yield _draft(event, node, f"`{name}` is a function that is not called here; {consequence}")


def _always_true(event: Event, node: cst.CSTNode, value: Value) -> Iterable[Draft]:
    name = _probe(value)
    if name is not None:
        consequence = "so it is always true, on machines without an accelerator too"
        yield _draft(event, node, f"`{name}` is a function that is not called here, {consequence}")


def _draft(event: Event, node: cst.CSTNode, message: str) -> Draft:
    return Draft(
        node=node,
        scope=event.scope,
        message=message,
        repair=Repair(Applicability.UNSAFE, f"add the parentheses: `{code_of(node)}()`", (Surround(node, after="()"),)),
    )


def _probe(value: Value) -> str | None:
    """The name of the function, if it is one that queries devices."""
    return value.name if isinstance(value, Reference) and semantics.is_device_probe(value.name) else None
