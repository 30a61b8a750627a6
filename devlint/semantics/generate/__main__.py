"""`python -m devlint.semantics.generate`: rebuild the committed tables from the installed torch.

Needs `devlint[test]` (torch, and expecttest for torch's own sample inputs). With `--check` nothing is written and the
exit code is 1 when a table differs.
"""

from __future__ import annotations

import sys

from devlint.semantics.generate.tables import build
from devlint.semantics.generate.write import write
from devlint.semantics.tables import FOLDER


def main(arguments: list[str]) -> int:
    """Write the generated tables, or compare them."""
    built = build()
    stale = [name for name, text in built.items() if (FOLDER / f"{name}.json").read_text("utf-8") != text]
    if "--check" in arguments:
        return 1 if stale else 0
    for name, text in built.items():
        write(name, text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
