"""Draws docs/terminal.svg: what devlint prints on a terminal for the program at the beginning of README.md.

    python docs/picture.py
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[1]
COLUMNS = 104


def example() -> str:
    """The program of README.md."""
    found = re.search(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    assert found is not None
    return found[1]


def printed(*, color: bool) -> str:
    """What devlint says of the program, without the time it took."""
    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / "net.py").write_text(example())
        command = [sys.executable, "-m", "devlint", "--color", "always" if color else "never", "net.py"]
        env = {**os.environ, "COLUMNS": str(COLUMNS), "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=directory, env=env, capture_output=True, text=True, check=False)
    return re.sub(r" \(\d+\.\d\d s\)", "", done.stdout)


def draw() -> str:
    """The picture; its identifiers do not change from one drawing to the next."""
    console = Console(record=True, width=COLUMNS, file=open(os.devnull, "w"))  # noqa: SIM115
    console.print("[bold green]$[/] devlint net.py")
    console.print(Text.from_ansi(printed(color=True)))
    drawn = console.export_svg(title="devlint", unique_id="devlint")
    # The reader's own fixed-width font does as well as one from elsewhere.
    return re.sub(r" *@font-face \{.*?\}\n", "", drawn, flags=re.S)


if __name__ == "__main__":
    (ROOT / "docs" / "terminal.svg").write_text(draw(), encoding="utf-8")
