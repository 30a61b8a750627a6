"""devlint from Python: the findings of paths, or of a text, as the command line would show them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from devlint.check import Request, check
from devlint.configuration.config import Overrides
from devlint.configuration.configfile import ConfigurationError, check_values, read_config
from devlint.finding import Finding
from devlint.source.decoding import encoded


def lint_paths(
    paths: Iterable[str | os.PathLike[str]],
    *,
    settings: Mapping[str, Any] | None = None,
    config: str | os.PathLike[str] | None = None,
    isolated: bool = False,
    cwd: str | os.PathLike[str] | None = None,
    jobs: int | None = 1,
    cached: bool = False,
) -> list[Finding]:
    """The findings of files and directories, in the order path, line, column, code.

    What cannot be analysed is a finding as well: DEV901 for a syntax error, DEV902 for anything else.

    Args:
        paths: Files and directories, absolute or relative to ``cwd``; directories are searched as by the command line.
        settings: Values over those of the configuration files, by the keys of ``[tool.devlint]``:
            ``{"select": ["DEV1"], "min-severity": "error"}``.
        config: One configuration file for everything, instead of the one nearest to each file.
        isolated: Read no configuration file.
        cwd: What paths in findings are relative to; by default the working directory.
        jobs: Processes to use; None for one for each processor.
        cached: Use the cache of the command, and write to it.

    Raises:
        FileNotFoundError: One of ``paths`` does not exist.
        ConfigurationError: ``settings`` or a configuration file is not as it must be; the message says where.
    """
    found = check(
        Request(
            paths=tuple(os.fspath(path) for path in paths),
            cwd=_directory(cwd),
            overrides=_overrides(settings, config, isolated),
            jobs=jobs,
            cached=cached,
        )
    )
    if found.missing:
        raise FileNotFoundError(f"no such file or directory: {', '.join(found.missing)}")
    return list(found.findings)


def lint_source(
    source: str | bytes,
    filename: str | os.PathLike[str] = "-",
    *,
    settings: Mapping[str, Any] | None = None,
    config: str | os.PathLike[str] | None = None,
    isolated: bool = False,
    cwd: str | os.PathLike[str] | None = None,
    cached: bool = False,
) -> list[Finding]:
    """The findings of a text that need not be in a file: an editor's buffer, a generated program, a notebook.

    ``filename`` decides which configuration holds, what the text's imports lead to and, by its ending ``.ipynb``,
    whether it is a notebook. It need not exist. Edits of fixes count bytes of ``source`` as given, or of a string in
    the encoding that it declares, UTF-8 without a declaration. The other arguments and the errors are those of
    :func:`lint_paths`.
    """
    data = source if isinstance(source, bytes) else encoded(source)
    request = Request(
        paths=("-",),
        cwd=_directory(cwd),
        overrides=_overrides(settings, config, isolated),
        jobs=1,
        cached=cached,
        stdin=data,
        stdin_filename=os.fspath(filename),
    )
    return list(check(request).findings)


def _directory(cwd: str | os.PathLike[str] | None) -> Path:
    return Path.cwd() if cwd is None else Path(cwd).absolute()


def _overrides(settings: Mapping[str, Any] | None, config: str | os.PathLike[str] | None, isolated: bool) -> Overrides:
    values = check_values(settings or {}, lambda key: "settings: ")
    if config is None:
        return Overrides(values, None, isolated)
    file = read_config(Path(config).absolute())
    if file is None:
        raise ConfigurationError(f"{config}: the file has no [tool.devlint]")
    return Overrides(values, file, isolated)
