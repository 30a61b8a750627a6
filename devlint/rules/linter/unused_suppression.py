"""A suppression comment that silences nothing.

## What it does

Reports `# noqa: DEV101`, `# devlint: ignore[DEV101]` and `# devlint: file-ignore[DEV101]`, and single codes of them,
that no finding needed. Only codes that ran in this selection and at this confidence are judged. Codes of other linters
never are.

## Why is this bad

The comment claims a defect that is not there, and would hide the next one.

## Example

```python
import torch

weights = torch.zeros(3)  # noqa: DEV101
```

## Use instead

```python
import torch

weights = torch.zeros(3)
```

## When it is right

- The code did not run: it is not selected, or its findings are below the confidence asked for.
- The finding depends on a file that is not there in this run. Then suppress DEV900 on that line too.

## Fix safety

Safe: only the comment, or the code in it, is removed.

## How a run confirms it

It does not: this is about the text alone.

## Known problems

None known.
"""

from __future__ import annotations

from devlint.finding import Severity
from devlint.rules.rule import Rule


class UnusedSuppression(Rule):
    """Found after the rules have run, when each comment is held against what it silenced."""

    code = "DEV900"
    name = "unused-suppression"
    severity = Severity.WARNING
