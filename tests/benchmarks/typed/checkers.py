"""Type checkers as engines. Each comes from its own environment.

``environments`` is a directory with ``ty/bin/ty``, ``pyrefly/bin/pyrefly``, ``pyright/node_modules``,
``jedi/bin/python``, ``astroid/bin/python``, and ``bare/bin/python`` without packages (``python -m venv X``,
``X/bin/pip install X``; ``npm install pyright``).
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from typed.annotation import Kind, kind_of
from typed.definitions import Place, functions, parameters
from typed.modules import torch_modules
from typed.places import typed
from typed.revealing import Spot, claims, revealing


def written(files: Mapping[str, str], directory: Path) -> None:
    for path, text in files.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_text(text, encoding="utf-8")


def is_module_of(files: Mapping[str, str]) -> frozenset[str]:
    """The names of Modules, found once for the same files: reading the answers is no part of an engine's time."""
    return _is_module_of(frozenset(files.items()))


@lru_cache(2)
def _is_module_of(files: frozenset[tuple[str, str]]) -> frozenset[str]:
    return typed(dict(files)).modules | torch_modules()


@dataclass(frozen=True)
class _Revealing:
    """A checker that is made to speak by ``reveal_type``."""

    environments: Path
    python: Path
    """An environment whose packages the files may import: with torch, or without."""
    seconds: float = 900.0

    @property
    def name(self) -> str:
        raise NotImplementedError

    def command(self, directory: Path, asked: Collection[str]) -> Sequence[str]:
        raise NotImplementedError

    def said(self, output: str, directory: Path) -> Iterator[tuple[Spot, str]]:
        raise NotImplementedError

    def infer(self, files: Mapping[str, str], asked: Collection[str]) -> Mapping[Place, Kind]:
        spots: dict[Spot, Place] = {}
        texts = dict(files)
        for path in asked:
            texts[path], own = revealing(path, files[path])
            spots |= own
        with tempfile.TemporaryDirectory(prefix="devlint-kinds-") as name:
            directory = Path(name).resolve()
            written(texts, directory)
            output = ran(self.command(directory, sorted(asked)), directory, self.seconds)
            return claims(self.said(output, directory), spots, is_module_of(files).__contains__)


def ran(command: Sequence[str], directory: Path, seconds: float) -> str:
    """What a command printed. Raises SystemExit if it printed nothing."""
    try:
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=seconds, check=False)
    except FileNotFoundError:
        raise SystemExit(
            f"{command[0]}: not there; see tests/benchmarks/typed/checkers.py for what --environments holds"
        ) from None
    except subprocess.TimeoutExpired:
        return ""
    if not done.stdout:
        raise SystemExit(f"{' '.join(command[:3])} ... ended with {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


class Ty(_Revealing):
    @property
    def name(self) -> str:
        return "ty"

    def command(self, directory: Path, asked: Collection[str]) -> Sequence[str]:
        return [
            str(self.environments / "ty/bin/ty"), "check", "--output-format", "concise", "--no-progress", "--color",
            "never", "--exit-zero", "--python", str(self.python), "--project", str(directory), *asked,
        ]  # fmt: skip

    def said(self, output: str, directory: Path) -> Iterator[tuple[Spot, str]]:
        for line in output.splitlines():
            told = re.match(r"(.+?):(\d+):\d+: info\[revealed-type\] Revealed type: `(.*)`$", line)
            if told:
                path = told[1].removeprefix(f"{directory}/")
                yield (path, int(told[2])), told[3]


class Pyright(_Revealing):
    @property
    def name(self) -> str:
        return "pyright"

    def command(self, directory: Path, asked: Collection[str]) -> Sequence[str]:
        settings = {"include": list(asked), "typeCheckingMode": "off"}
        (directory / "pyrightconfig.json").write_text(json.dumps(settings))
        script = self.environments / "pyright/node_modules/pyright/index.js"
        return [
            "node",
            str(script),
            "--outputjson",
            "--pythonpath",
            str(self.python / "bin/python"),
            "-p",
            str(directory),
        ]

    def said(self, output: str, directory: Path) -> Iterator[tuple[Spot, str]]:
        for one in json.loads(output or '{"generalDiagnostics": []}')["generalDiagnostics"]:
            told = re.match(r'Type of ".*" is "(.*)"$', one["message"], re.DOTALL)
            if told and one["severity"] == "information":
                yield (one["file"].removeprefix(f"{directory}/"), one["range"]["start"]["line"] + 1), told[1]


@dataclass(frozen=True)
class PyreflyInfer:
    """``pyrefly infer`` writes annotations into the files: parameters by defaults and calls, results by returns."""

    environments: Path
    python: Path
    seconds: float = 900.0

    @property
    def name(self) -> str:
        return "pyrefly infer"

    def infer(self, files: Mapping[str, str], asked: Collection[str]) -> Mapping[Place, Kind]:
        with tempfile.TemporaryDirectory(prefix="devlint-kinds-") as name:
            directory = Path(name).resolve()
            written(files, directory)
            (directory / "pyrefly.toml").write_text("")
            command = [str(self.environments / "pyrefly/bin/pyrefly"), "infer", *sorted(asked)]
            command += ["--python-interpreter-path", str(self.python / "bin/python")]
            try:
                subprocess.run(command, cwd=directory, capture_output=True, timeout=self.seconds, check=False)
            except subprocess.TimeoutExpired:
                return {}
            known = is_module_of(files)
            return dict(annotated({path: directory / path for path in asked}, known))


def annotated(files: Mapping[str, Path], modules: frozenset[str]) -> Iterator[tuple[Place, Kind]]:
    """The annotations of files that may have become no Python."""
    import ast

    for path, file in files.items():
        try:
            tree = ast.parse(file.read_text(encoding="utf-8"))
        except SyntaxError:
            continue
        for qualname, node, owner in functions(tree):
            for name, told in [*((a.arg, a.annotation) for a in parameters(node, owner)), ("return", node.returns)]:
                kind = kind_of(told, modules.__contains__)
                if kind is not None:
                    yield Place(path, qualname, name), kind
