"""A file that was to be analysed and could not be.

## What it does

Reports a file that cannot be opened, is not in the encoding that it declares, is too large, nests brackets too deep or
holds an expression too long to parse without risk, is named like a notebook (`.ipynb`) and is none, or on which the
analysis failed or its process died. The message says which. The other files are still analysed; the run ends with exit
code 2. This is always on.

## Why is this bad

Nothing in the file was checked: a green run would say more than was seen.

## Example

```text
# -*- coding: ascii -*-
größe = 3
```

## Use instead

```text
# -*- coding: utf-8 -*-
größe = 3
```

## When it is right

- The file is generated, or data in the form of Python. Then exclude it.

## Fix safety

There is no fix.

## How a run confirms it

It does not: a file that cannot be read is not run.

## Known problems

None known.
"""

from __future__ import annotations

from devlint.finding import Severity
from devlint.rules.rule import Rule


class UnreadableFile(Rule):
    """Found where files are read and workers are watched, outside the rules."""

    code = "DEV902"
    name = "unreadable-file"
    severity = Severity.ERROR
