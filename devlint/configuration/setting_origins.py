"""Where each setting comes from: the value that holds, and the files, lines or command line that gave it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from devlint.configuration.config import Configuration
from devlint.configuration.configfile import KEYS, ConfigFile
from devlint.source.discovery import USUAL_EXCLUDES

_DEFAULTS: Mapping[str, Any] = {
    "bare-noqa": False,
    "exclude": list(USUAL_EXCLUDES),
    "extend-exclude": [],
    "extend-per-file-ignores": {},
    "extend-select": [],
    "fix": False,
    "fix-only": False,
    "fixable": ["ALL"],
    "force-exclude": False,
    "ignore": [],
    "min-confidence": "medium",
    "min-severity": "warning",
    "output-format": "text",
    "per-file-ignores": {},
    "respect-gitignore": True,
    "show-fixes": False,
    "src": [],
    "unfixable": [],
    "unsafe-fixes": False,
}

_ADDED = ("extend-exclude", "extend-per-file-ignores", "extend-select", "ignore")
"""Keys whose values of all layers count together; all others are decided by the last layer that has them."""

_STARTS_ANEW = {"extend-select": "select", "ignore": "select", "extend-per-file-ignores": "per-file-ignores"}
"""What in a later layer makes the earlier values of a key count no more."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One key, the value that holds for some directory, and its origins; none for a default."""

    key: str
    value: Any
    """None: not set, and without a default that could be written down."""
    origins: tuple[tuple[ConfigFile | None, int], ...]
    """Each a file and line; no file for the command line."""


def explain(configuration: Configuration, directory: str) -> list[Setting]:
    """Every setting of an absolute directory, in the order of the keys. Raises ConfigurationError."""
    layers = configuration.layers_for(directory)
    return [_setting(key, layers) for key in KEYS]


def _setting(key: str, layers: list[tuple[ConfigFile | None, Mapping[str, Any]]]) -> Setting:
    anew = [number for number, (_, values) in enumerate(layers) if _STARTS_ANEW.get(key, "") in values]
    counting = layers[anew[-1] :] if anew else layers
    given = [(file, values[key]) for file, values in counting if key in values]
    if not given:
        return Setting(key, _DEFAULTS.get(key), ())
    if key not in _ADDED:
        given = given[-1:]
    value = given[0][1]
    for _, more in given[1:]:
        value = {**value, **more} if isinstance(value, dict) else [*value, *more]
    return Setting(key, value, tuple((file, file.lines.get(key, 1) if file else 0) for file, _ in given))
