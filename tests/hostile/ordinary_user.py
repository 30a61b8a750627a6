"""``python ordinary_user.py ARGUMENTS``: devlint as a user whom permissions bind, started by root.

What will be imported is imported first: the interpreter may lie where that user may not look.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
import tempfile
from pathlib import Path

import devlint
from devlint.cli.main import main
from devlint.cli.main import run as run_devlint

NOBODY = 65534

_LAZY = (
    "difflib", "encodings.utf_8_sig", "hashlib", "json", "multiprocessing.connection", "multiprocessing.context",
    "multiprocessing.popen_fork", "queue", "resource", "rich.color", "rich.style", "rich.progress", "shlex", "shutil",
    "signal", "subprocess", "tempfile", "tokenize", "tomllib", "traceback", "xml.etree.ElementTree", "libcst",
    "_posixsubprocess", "ctypes",
)  # fmt: skip
_STATIC = (
    "cache", "configuration", "drafts", "fixes", "gate", "pipeline", "placement", "repairs", "reports", "rules",
    "source",
)  # fmt: skip


def become_ordinary() -> None:
    """Import what a run may need, then give up root's rights for good."""
    here = os.getcwd()
    for name in _LAZY:
        importlib.import_module(name)
    root = Path(devlint.__file__).parents[1]
    for file in sorted((root / "devlint").rglob("*.py")):
        if file.relative_to(root).parts[1] in _STATIC:
            module = ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
            importlib.import_module(module)
    with tempfile.TemporaryDirectory() as directory, contextlib.redirect_stdout(io.StringIO()):
        os.chdir(directory)
        Path("a.py").write_text("import torch\nx = torch.ones(3)\nx.cuda()\n")
        for arguments in ([], ["--fix", "-n"], ["--output-format=concise"]):
            run_devlint(["--isolated", "--cache-dir", "kept", "-q", *arguments, "a.py"])
    os.chdir(here)
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


if __name__ == "__main__":
    if os.getuid() == 0:
        become_ordinary()
    main(sys.argv[1:])
