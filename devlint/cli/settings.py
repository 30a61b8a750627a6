"""``--show-settings``: the settings of the first file, each with its origin, in the form of a configuration file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click

from devlint.check import Plan
from devlint.configuration.config import Configuration, Overrides
from devlint.configuration.configfile import ConfigFile
from devlint.configuration.setting_origins import explain
from devlint.reports.painting import visible
from devlint.source.project import shown_path

_MEANINGS = {
    "cache-dir": ".devlint_cache in the project",
    "select": "every rule but those that only cost time",
    "src": "the directory above the topmost package of each file",
}
"""What a default stands for where the value does not tell."""


def show_settings(planned: Plan, overrides: Overrides, cwd: Path) -> int:
    """Print the settings that hold for the first file of a plan, or for the working directory if it has none."""
    configuration = Configuration(overrides, cwd)
    file = planned.tasks[0].path if planned.tasks else None
    directory = os.path.dirname(file) if file else str(cwd)
    found = explain(configuration, directory)
    click.echo(f"# settings of {visible(planned.tasks[0].shown_as) if file else 'the working directory'}")
    for setting in found:
        meaning = f": {_MEANINGS[setting.key]}" if setting.key in _MEANINGS else ""
        origin = ", ".join(_origin(*origin, str(cwd)) for origin in setting.origins) or f"default{meaning}"
        if setting.value is None:
            click.echo(f"# {setting.key} is not set{meaning}")
        else:
            click.echo(f"{setting.key} = {_toml(setting.value)}  # {origin}")
    settings = configuration.for_directory(directory)
    enabled = settings.enabled_for(file) if file else settings.selection.enabled
    click.echo(f"# {len(enabled)} rules are on: {', '.join(sorted(enabled))}")
    return 0


def _origin(file: ConfigFile | None, line: int, cwd: str) -> str:
    return f"{visible(shown_path(str(file.path), cwd))}:{line}" if file is not None else "command line"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f"{_toml(str(key))} = {_toml(one)}" for key, one in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in json.dumps(value, ensure_ascii=False))
