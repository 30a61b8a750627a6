"""Which code a run of lifted tests rests on, so that a row of a table can say whether it was measured on this tree."""

from __future__ import annotations

import functools
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]

_DIGEST = """
import hashlib, sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
import devlint.confirmation.lifted, devlint.pytest_plugin, devlint.runtime.lifting.calls, devlint.runtime.simulated

modules = {name: module.__file__ for name, module in sys.modules.items() if name.partition(".")[0] == "devlint"}
files = [Path(modules[name]) for name in sorted(modules)]
files += sorted(Path(sys.argv[1], "devlint/semantics/tables").glob("*.json"))
print(hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12])
"""


@functools.cache
def code_of_runs(root: Path = ROOT) -> str:
    """Twelve digits of the SHA-256 of every module of devlint that ``pytest --devlint`` loads, and of PyTorch's tables.

    The static half is not among them, nor are the tables of other libraries: rules and inference do not change what a
    lifted test shows.
    """
    command = [sys.executable, "-P", "-c", _DIGEST, str(root)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
