"""A file that is not Python.

## What it does

Reports a file that neither Python's own parser nor LibCST, which also knows newer syntax, can read. The place is where
Python's parser stopped. This is always on, and nothing else is said of the file; the run goes on with the others.
In a notebook it is said of the one cell, and the other cells are judged without it.

## Why is this bad

The file cannot be imported, and nothing in it was checked.

## Example

```text
def forward(self, x:
    return x
```

## Use instead

```text
def forward(self, x):
    return x
```

## When it is right

- The file is a template or a fragment. Then exclude it.

## Fix safety

There is no fix.

## How a run confirms it

Importing the file raises SyntaxError.

## Known problems

Syntax that is newer than both parsers is reported as an error.
"""

from __future__ import annotations

from devlint.finding import Severity
from devlint.rules.rule import Rule


class SyntaxErrorInFile(Rule):
    """Found when the file is parsed, before any rule runs."""

    code = "DEV901"
    name = "syntax-error"
    severity = Severity.ERROR
