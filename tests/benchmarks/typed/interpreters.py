"""jedi and astroid as engines: libraries, asked by a script in their own environment."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from typed.annotation import Kind, kind_of_text
from typed.checkers import is_module_of, written
from typed.definitions import Place


@dataclass(frozen=True)
class Interpreter:
    """``name`` is jedi or astroid. What it has said when its time is over counts."""

    name: str
    environments: Path
    packages: Path | None
    """The site-packages that the files may import, or none."""
    seconds: float = 900.0

    def infer(self, files: Mapping[str, str], asked: Collection[str]) -> Mapping[Place, Kind]:
        modules = is_module_of(files)
        script = Path(__file__).with_name(f"ask_{self.name}.py")
        with tempfile.TemporaryDirectory(prefix="devlint-kinds-") as name:
            directory = Path(name).resolve()
            written(files, directory / "files")
            python = str(self.environments / self.name / "bin/python")
            command = [python, str(script), str(directory / "files"), str(self.packages or "")]
            (directory / "asked").write_text("\n".join(sorted(asked)))
            with (
                (directory / "asked").open() as questions,
                (directory / "said").open("w") as said,
                contextlib.suppress(subprocess.TimeoutExpired),
            ):
                done = subprocess.run(
                    command, stdin=questions, stdout=said, stderr=subprocess.PIPE, text=True, timeout=self.seconds
                )
                if done.returncode:
                    print(f"{self.name}: {done.stderr[-400:]}", file=sys.stderr)
            found: dict[Place, Kind] = {}
            for line in (directory / "said").read_text().splitlines():
                with contextlib.suppress(ValueError):  # the last line may be torn
                    path, qualname, parameter, told = json.loads(line)
                    kinds = {kind_of_text(text, modules.__contains__) for text in told} - {None}
                    if len(kinds) == 1 and (kind := kinds.pop()) is not None:
                        found[Place(path, qualname, parameter)] = kind
            return found
