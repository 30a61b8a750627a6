"""The settings of each directory: the nearest configuration, what it extends, and the command line over all of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from devlint.configuration.codes import Choice, Selection, matching, resolve
from devlint.configuration.configfile import ConfigFile, ConfigurationError, find_config
from devlint.finding import Confidence, Severity
from devlint.source.discovery import USUAL_EXCLUDES
from devlint.source.globs import Globs as Patterns
from devlint.source.globs import TooMany, relative_to


@dataclass(frozen=True)
class Globs:
    """Patterns in the form of ``.gitignore``, relative to ``base``; an absolute path below it is made relative."""

    base: str
    spec: Patterns

    @classmethod
    def of(cls, base: Path, patterns: tuple[str, ...]) -> Globs:
        prefix = str(base).rstrip(os.sep) + os.sep
        cleaned = [
            "/" + pattern.removeprefix(prefix) if pattern.startswith(prefix) else pattern.removeprefix("./")
            for pattern in patterns
        ]
        try:
            return cls(str(base), Patterns(cleaned))
        except TooMany as error:
            raise ConfigurationError(f"too many globs: {error}") from None

    def match(self, path: str) -> bool:
        """Whether an absolute file path matches, itself or by a parent; one outside of ``base`` never does."""
        relative = relative_to(self.base, path)
        return relative is not None and self.spec.covers(relative)

    def match_itself(self, path: str, is_directory: bool) -> bool:
        """Whether an absolute path matches by more than being inside of a directory that does."""
        relative = relative_to(self.base, path)
        return relative is not None and bool(self.spec.verdict(relative, is_directory))


@dataclass(frozen=True)
class FileIgnores:
    """Codes that are off in the files that a glob matches or, ``negated`` (``!src/``), in those it does not."""

    globs: Globs
    negated: bool
    codes: frozenset[str]

    @classmethod
    def of(cls, base: Path, pattern: str, selectors: Iterable[str]) -> FileIgnores:
        codes = frozenset(code for selector in selectors for code in matching(selector))
        return cls(Globs.of(base, (pattern.removeprefix("!"),)), pattern.startswith("!"), codes)

    def apply_to(self, path: str) -> bool:
        """Whether they count in a file (absolute path)."""
        return self.globs.match(path) is not self.negated


@dataclass(frozen=True)
class Settings:
    """Everything that is set for the files of one directory."""

    selection: Selection
    min_severity: Severity | None = None
    """None: warning, and notes of rules that were selected by name."""
    min_confidence: Confidence = Confidence.MEDIUM
    usual_excludes: bool = True
    excludes_globs: tuple[Globs, ...] = ()
    force_exclude: bool = False
    respect_gitignore: bool = True
    bare_noqa: bool = False
    output_format: str = "text"
    baseline: Path | None = None
    """The file of known findings, absolute."""
    cache_dir: Path | None = None
    """Where results are kept, absolute; None for the usual place."""
    src: tuple[Path, ...] = ()
    per_file_ignores: tuple[FileIgnores, ...] = ()
    entries: tuple[Mapping[str, Any], ...] = ()
    """What ``devlint confirm`` runs when the command line does not say."""
    fixable: frozenset[str] | None = None
    """The codes whose fixes may be applied; None: all."""
    fix: bool = False
    fix_only: bool = False
    unsafe_fixes: bool = False
    show_fixes: bool = False
    origin: tuple[Path, ...] = ()
    """The files that these settings were read from."""

    def excludes(self, path: str, is_directory: bool) -> bool:
        """Whether an absolute path itself is excluded, whatever its parents are."""
        if self.usual_excludes and is_directory and os.path.basename(path) in USUAL_EXCLUDES:
            return True
        return any(globs.match_itself(path, is_directory) for globs in self.excludes_globs)

    def enabled_for(self, path: str) -> frozenset[str]:
        """The codes that are on in one file (absolute path)."""
        ignored: set[str] = set()
        for ignores in self.per_file_ignores:
            if ignores.apply_to(path):
                ignored |= ignores.codes
        return self.selection.enabled - ignored if ignored else self.selection.enabled


@dataclass(frozen=True)
class Overrides:
    """What the command line sets, over every configuration file. Keys are the configuration's own."""

    values: Mapping[str, Any] = field(default_factory=dict)
    config: ConfigFile | None = None
    """One file for everything, instead of the nearest."""
    isolated: bool = False


class Configuration:
    """The settings of every directory, each read once."""

    def __init__(self, overrides: Overrides, cwd: Path) -> None:
        self._overrides = overrides
        self._cwd = cwd
        self._files: dict[str, ConfigFile | None] = {}
        self._settings: dict[Path | None, Settings] = {}

    def layers_for(self, directory: str) -> list[tuple[ConfigFile | None, Mapping[str, Any]]]:
        """What is laid over one another for an absolute directory, the command line (no file) last."""
        config = self._config(directory)
        files = config.layers if config else ()
        return [*((file, file.values) for file in files), (None, self._overrides.values)]

    def for_directory(self, directory: str) -> Settings:
        """The settings of files in an absolute directory. Raises ConfigurationError for what its file gets wrong."""
        config = self._config(directory)
        key = config.path if config else None
        if key not in self._settings:
            self._settings[key] = build_settings(config, self._overrides.values, self._cwd)
        return self._settings[key]

    def _config(self, directory: str) -> ConfigFile | None:
        if self._overrides.isolated:
            return None
        if self._overrides.config is not None:
            return self._overrides.config
        if directory not in self._files:
            found = find_config(Path(directory))
            parent = os.path.dirname(directory)
            if found is None and parent != directory:
                found = self._config(parent)
            self._files[directory] = found
        return self._files[directory]


def build_settings(config: ConfigFile | None, overrides: Mapping[str, Any], cwd: Path) -> Settings:
    """One file's settings, those it extends beneath it and the command line on top."""
    files = config.layers if config else ()
    layers: list[tuple[Path, Mapping[str, Any]]] = [*((file.base, file.values) for file in files), (cwd, overrides)]
    merged: dict[str, Any] = {}
    bases: dict[str, Path] = {}
    for base, values in layers:
        for key, value in values.items():
            merged[key], bases[key] = value, base

    globs = [Globs.of(bases["exclude"], tuple(merged["exclude"]))] if "exclude" in merged else []
    globs += [Globs.of(base, tuple(values["extend-exclude"])) for base, values in layers if "extend-exclude" in values]
    return Settings(
        selection=resolve(_choice(values) for _, values in layers),
        min_severity=Severity[merged["min-severity"].upper()] if "min-severity" in merged else None,
        min_confidence=Confidence[merged.get("min-confidence", "medium").upper()],
        usual_excludes="exclude" not in merged,
        excludes_globs=tuple(globs),
        force_exclude=merged.get("force-exclude", False),
        respect_gitignore=merged.get("respect-gitignore", True),
        bare_noqa=merged.get("bare-noqa", False),
        output_format=merged.get("output-format", "text"),
        baseline=_file(bases["baseline"], merged["baseline"]) if merged.get("baseline") else None,
        cache_dir=_file(bases["cache-dir"], merged["cache-dir"]) if merged.get("cache-dir") else None,
        src=tuple((bases["src"] / root).resolve() for root in merged.get("src", ())),
        fixable=_fixable(merged),
        fix=merged.get("fix", False),
        fix_only=merged.get("fix-only", False),
        unsafe_fixes=merged.get("unsafe-fixes", False),
        show_fixes=merged.get("show-fixes", False),
        per_file_ignores=tuple(_per_file_ignores(layers)),
        entries=tuple(merged.get("entries", ())),
        origin=tuple(file.path for file in files),
    )


def _file(base: Path, value: str) -> Path:
    return Path(os.path.normpath(base / Path(value).expanduser()))


def _choice(values: Mapping[str, Any]) -> Choice:
    select = values.get("select")
    return Choice(
        select=None if select is None else tuple(select),
        ignore=tuple(values.get("ignore", ())),
        extend_select=tuple(values.get("extend-select", ())),
    )


def _fixable(merged: Mapping[str, Any]) -> frozenset[str] | None:
    """What ``fixable`` allows, all by default, without what ``unfixable`` forbids."""
    if "fixable" not in merged and "unfixable" not in merged:
        return None
    forbidden = {code for selector in merged.get("unfixable", ()) for code in matching(selector)}
    return frozenset(code for selector in merged.get("fixable", ("ALL",)) for code in matching(selector)) - forbidden


def _per_file_ignores(layers: list[tuple[Path, Mapping[str, Any]]]) -> list[FileIgnores]:
    """As with ``select``, a later ``per-file-ignores`` takes the place of an earlier one; the extending kind adds."""
    found: list[FileIgnores] = []
    for base, values in layers:
        if "per-file-ignores" in values:
            found = []
        for key in ("per-file-ignores", "extend-per-file-ignores"):
            found += (FileIgnores.of(base, pattern, selectors) for pattern, selectors in values.get(key, {}).items())
    return found
