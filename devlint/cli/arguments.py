"""What arguments stand for: ``@file``, comma separated codes, ``--config FILE|KEY=VALUE``."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from devlint.configuration.complaint import Complaint
from devlint.configuration.configfile import ConfigFile, ConfigurationError, check_values, read_config
from devlint.source.reading import MAX_SETTINGS_BYTES, read_file, reason
from devlint.source.toml import NoToml, parse_toml


class ArgumentFileError(Complaint):
    """An ``@file`` that cannot be read."""


def expand_argument_files(arguments: Iterable[str]) -> list[str]:
    """Replace each ``@file`` before ``--`` by the file's lines, one argument each; blank lines count for nothing."""
    expanded: list[str] = []
    literal = False
    for argument in arguments:
        literal = literal or argument == "--"
        if literal or not argument.startswith("@") or len(argument) == 1:
            expanded.append(argument)
            continue
        try:
            lines = read_file(argument[1:], MAX_SETTINGS_BYTES).decode("utf-8-sig", "surrogateescape").splitlines()
        except OSError as error:
            told = f"the argument file {argument[1:]} cannot be read: {reason(error)}"
            raise ArgumentFileError(f"{told} (a path of that name is ./{argument})") from None
        expanded.extend(line for line in lines if line.strip())
    return expanded


def comma_separated(values: Iterable[str]) -> list[str]:
    """``("DEV1,DEV2", "DEV3")`` as one list."""
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


def read_config_options(options: Iterable[str]) -> tuple[ConfigFile | None, dict[str, Any]]:
    """The file and the single values of all ``--config`` options. Raises ConfigurationError."""
    file: ConfigFile | None = None
    values: dict[str, Any] = {}
    for option in options:
        path = Path(option).expanduser()
        if "=" in option and not os.path.lexists(path):
            values.update(_assignment(option))
            continue
        if file is not None:
            raise ConfigurationError(f"--config names two files, {file.path} and {option}; only one can be used")
        if not os.path.lexists(path):
            raise ConfigurationError(f"--config {option}: no such file (and no KEY=VALUE)")
        file = read_config(path.absolute())
        if file is None:
            raise ConfigurationError(f"--config {option}: the file has no [tool.devlint]")
    return file, values


def _assignment(option: str) -> dict[str, Any]:
    where = f"--config {option:.200}: "
    try:
        document = parse_toml(option)
    except NoToml as error:
        raise ConfigurationError(f'{where}{error}; strings need quotes, as in min-severity="error"') from None
    return check_values(document, lambda key: where)


def per_file_ignores(values: Iterable[str], key: str = "per-file-ignores") -> dict[str, list[str]]:
    """``tests/*:DEV301,docs/*.py:DEV1`` as the configuration's ``key`` has it. Raises ConfigurationError."""
    table: dict[str, list[str]] = {}
    for part in comma_separated(values):
        pattern, colon, code = part.rpartition(":")
        if not colon or not pattern or not code:
            raise ConfigurationError(f"--{key} {part}: expected GLOB:CODE, several joined by commas")
        table.setdefault(pattern, []).append(code)
    check_values({key: table}, lambda key: f"--{key}: ")
    return table
