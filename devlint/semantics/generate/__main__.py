"""`python -m devlint.semantics.generate`: rebuild the committed tables from the installed torch.

Needs `devlint[test]` (torch, and expecttest for torch's own sample inputs). With `--check` nothing is written and the
exit code is 1 when a table differs.
"""

from __future__ import annotations

import sys

from devlint.semantics.generate.tables import build
from devlint.semantics.generate.write import stale, write
from devlint.semantics.tables import FOLDER


def main() -> int:
    """Write the generated tables, or with `--check` compare them."""
    built = build()
    differing = stale(built, FOLDER)
    if "--check" not in sys.argv:
        write(built, FOLDER)
        return 0
    sys.stdout.writelines(f"{name}.json differs\n" for name in differing)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
