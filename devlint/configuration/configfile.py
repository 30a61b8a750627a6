"""Configuration files: found, read, and checked key by key, each complaint with its file and line."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from devlint import __version__
from devlint.configuration.codes import UnknownCode, either, matching
from devlint.configuration.complaint import Complaint
from devlint.configuration.required_version import NoVersion, satisfies
from devlint.source.globs import BadGlob, check_glob
from devlint.source.toml import NoToml, load_toml

FILE_NAMES = (".devlint.toml", "devlint.toml", "pyproject.toml")
"""In one directory the first that speaks of devlint is read."""

OUTPUT_FORMATS = (
    "text", "full", "concise", "grouped", "json", "json-lines", "sarif", "github", "gitlab", "junit", "rdjson", "html",
)  # fmt: skip
SEVERITIES = ("note", "warning", "error")
CONFIDENCES = ("low", "medium", "high")

_STRING, _STRINGS, _CODES = "a string", "a list of strings", "a list of codes"
_PATH, _PATHS, _GLOBS = "a path", "a list of paths", "a list of globs"
_BOOL, _IGNORES = "true or false", "a table of glob = [codes]"
_ENTRIES = "a list of tables, [[tool.devlint.entries]]"
KEYS: dict[str, str | tuple[str, ...]] = {
    "bare-noqa": _BOOL,
    "baseline": _PATH,
    "cache-dir": _PATH,
    "entries": _ENTRIES,
    "exclude": _GLOBS,
    "extend": _PATH,
    "extend-exclude": _GLOBS,
    "extend-per-file-ignores": _IGNORES,
    "extend-select": _CODES,
    "fix": _BOOL,
    "fix-only": _BOOL,
    "fixable": _CODES,
    "force-exclude": _BOOL,
    "ignore": _CODES,
    "min-confidence": CONFIDENCES,
    "min-severity": SEVERITIES,
    "output-format": OUTPUT_FORMATS,
    "per-file-ignores": _IGNORES,
    "required-version": _STRING,
    "respect-gitignore": _BOOL,
    "select": _CODES,
    "show-fixes": _BOOL,
    "src": _PATHS,
    "unfixable": _CODES,
    "unsafe-fixes": _BOOL,
}
"""Every key, and what it takes: a tuple lists the allowed words."""

ENTRY_KEYS = {
    "entry": _STRING,
    "model": _STRING,
    "init": _STRING,
    "inputs": _STRINGS,
    "script": _STRING,
    "arguments": _STRINGS,
}
"""The keys of one of the ``entries``."""


class ConfigurationError(Complaint):
    """Something in a configuration that is refused; the message begins with the file and line where there is one."""


@dataclass(frozen=True)
class ConfigFile:
    """The checked values of one file, before anything is filled in. ``base`` is where its globs and paths start."""

    path: Path
    base: Path
    values: Mapping[str, Any]
    extended: ConfigFile | None = field(default=None)
    lines: Mapping[str, int] = field(default_factory=dict)
    """The line on which each key stands."""

    @property
    def layers(self) -> tuple[ConfigFile, ...]:
        """This file after those that it extends, the most basic first."""
        return (*(self.extended.layers if self.extended else ()), self)


def find_config(directory: Path) -> ConfigFile | None:
    """The configuration in ``directory`` itself, if a file there speaks of devlint.

    In a directory that may not be entered there is none: whoever looks at its files reports that.
    """
    for name in FILE_NAMES:
        path = directory / name
        if os.path.exists(path) and not os.path.isdir(path):
            config = read_config(path)
            if config is not None:
                return config
    return None


def read_toml(path: Path) -> tuple[str, dict[str, Any]]:
    """The text of a file and what it says. Raises ConfigurationError."""
    try:
        return load_toml(path)
    except NoToml as error:
        where = f":{error.line}" if error.line else ""
        raise ConfigurationError(f"{path}{where}: {error}") from None


def read_config(path: Path, seen: tuple[Path, ...] = ()) -> ConfigFile | None:
    """The values of one file, None for a pyproject.toml without ``[tool.devlint]``. Raises ConfigurationError."""
    text, document = read_toml(path)
    section = ""
    if path.name == "pyproject.toml":
        section = "tool.devlint"
        tool = document.get("tool", {})
        if not isinstance(tool, dict):
            raise ConfigurationError(f"{path}:{line_of(text, '', 'tool')}: `tool` must be a table, not {tool!r:.80}")
        if "devlint" not in tool:
            return None
        document = tool["devlint"]
        if not isinstance(document, dict):
            raise ConfigurationError(f"{path}:{line_of(text, 'tool', 'devlint')}: `tool.devlint` must be a table")
    _check_version(document, f"{path}:{line_of(text, section, 'required-version')}: ")
    values = check_values(document, lambda key: f"{path}:{line_of(text, section, key)}: ")
    lines = {key: line_of(text, section, key) for key in values}
    return ConfigFile(path, path.parent, values, _extended(path, text, section, values, seen), lines)


def _check_version(document: Mapping[str, Any], where: str) -> None:
    """Before the keys: those of another version may be others."""
    wanted = document.get("required-version")
    if not isinstance(wanted, str):
        return
    try:
        if not satisfies(__version__, wanted):
            raise ConfigurationError(f"{where}requires devlint {wanted}, and this is {__version__}")
    except NoVersion as error:
        raise ConfigurationError(f"{where}`required-version` {error}") from None


def _extended(
    path: Path, text: str, section: str, values: Mapping[str, Any], seen: tuple[Path, ...]
) -> ConfigFile | None:
    if "extend" not in values:
        return None
    where = f"{path}:{line_of(text, section, 'extend')}: "
    target = (path.parent / Path(values["extend"]).expanduser()).resolve()
    if target in (*seen, path.resolve()):
        raise ConfigurationError(f"{where}`extend` leads back to {target}")
    if not target.exists() or target.is_dir():
        raise ConfigurationError(f"{where}`extend` names {target}, which is no file")
    config = read_config(target, (*seen, path.resolve()))
    if config is None:
        raise ConfigurationError(f"{where}`extend` names {target}, which has no [tool.devlint]")
    return config


def check_values(document: Mapping[str, Any], where: Any) -> dict[str, Any]:
    """The values if every key is known and every value is of its key's type; ``where(key)`` begins a complaint."""
    for key, value in document.items():
        if key not in KEYS:
            import difflib

            near = difflib.get_close_matches(key.replace("_", "-").lower(), KEYS, n=3, cutoff=0.6)
            hint = f"; did you mean {either(near)}?" if near else f"; the keys are {', '.join(KEYS)}"
            raise ConfigurationError(f"{where(key)}unknown key `{key}`{hint}")
        _check_value(key, value, where(key))
    return dict(document)


def _check_value(key: str, value: Any, where: str) -> None:
    kind = KEYS[key]
    if isinstance(kind, tuple):
        if value not in kind:
            raise ConfigurationError(f"{where}`{key}` must be {either(kind)}, not {value!r:.80}")
    elif kind == _BOOL:
        _expect(isinstance(value, bool), key, kind, value, where)
    elif kind == _STRING:
        _expect(isinstance(value, str), key, kind, value, where)
    elif kind == _IGNORES:
        _expect(isinstance(value, dict), key, kind, value, where)
        for pattern, codes in value.items():
            _check_glob(key, pattern.removeprefix("!"), where)
            _check_codes(f"{key}.{pattern}", codes, where)
    elif kind == _CODES:
        _check_codes(key, value, where)
    elif kind == _ENTRIES:
        _expect(isinstance(value, list) and all(isinstance(item, dict) for item in value), key, kind, value, where)
        for entry in value:
            _check_entry(entry, where)
    elif kind == _PATH:
        _expect(isinstance(value, str), key, kind, value, where)
        _check_path(key, value, where)
    else:
        _expect(isinstance(value, list) and all(isinstance(item, str) for item in value), key, kind, value, where)
        for item in value:
            (_check_glob if kind == _GLOBS else _check_path)(key, item, where)


def _check_glob(key: str, glob: str, where: str) -> None:
    try:
        check_glob(glob)
    except BadGlob as error:
        raise ConfigurationError(f"{where}`{key}`: invalid glob {glob!r:.80}: {error}") from None


def _check_path(key: str, path: str, where: str) -> None:
    if "\0" in path:
        raise ConfigurationError(f"{where}`{key}`: {path!r:.80} is no path: it contains a null byte")


def _check_entry(entry: Mapping[str, Any], where: str) -> None:
    for key, value in entry.items():
        if key not in ENTRY_KEYS:
            raise ConfigurationError(f"{where}an entry has no key `{key}`; its keys are {', '.join(ENTRY_KEYS)}")
        if ENTRY_KEYS[key] == _STRING:
            _expect(isinstance(value, str), f"entries.{key}", _STRING, value, where)
        else:
            holds = isinstance(value, list) and all(isinstance(item, str) for item in value)
            _expect(holds, f"entries.{key}", _STRINGS, value, where)


def _check_codes(key: str, value: Any, where: str) -> None:
    _expect(isinstance(value, list) and all(isinstance(item, str) for item in value), key, _CODES, value, where)
    for selector in value:
        try:
            matching(selector)
        except UnknownCode as error:
            raise ConfigurationError(f"{where}`{key}`: {error}") from None


def _expect(holds: bool, key: str, kind: str, value: Any, where: str) -> None:
    if not holds:
        raise ConfigurationError(f"{where}`{key}` must be {kind}, not {value!r:.80}")


def line_of(text: str, section: str, key: str) -> int:
    """The line on which ``key`` of the table ``section`` is given, as ``key = ...``, ``[section.key]`` or dotted.

    tomllib does not tell places, so the text is searched; 1 if the key hides in an inline table.
    """
    table: list[str] = []
    wanted = [*(section.split(".") if section else []), key]
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[\[?([^\]]+)\]\]?\s*(?:#.*)?$", line)
        if header:
            table = _dotted(header[1])
            if table[: len(wanted)] == wanted:
                return number
            continue
        assignment = re.match(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""", line)
        if assignment:
            full = table + _dotted(assignment[1])
            if full[: len(wanted)] == wanted or (full == wanted[: len(full)] and len(full) > len(table)):
                return number
    return 1


def _dotted(key: str) -> list[str]:
    parts = re.findall(r""""([^"]*)"|'([^']*)'|([\w-]+)""", key)
    return [next(filter(None, part), "") for part in parts]
