"""Settings: found, extended, overridden, and what they decide."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from devlint.configuration.codes import Choice, all_codes, resolve
from devlint.configuration.config import Configuration, Overrides, Settings
from devlint.configuration.configfile import ConfigurationError, line_of, read_config
from devlint.configuration.required_version import NoVersion, satisfies
from devlint.finding import Confidence, Severity


def settings(directory: Path, **overrides: Any) -> Settings:
    values = {key.replace("_", "-"): value for key, value in overrides.items()}
    return Configuration(Overrides(values), directory).for_directory(str(directory))


def test_defaults(tmp_path: Path) -> None:
    found = Configuration(Overrides(isolated=True), tmp_path).for_directory(str(tmp_path))
    assert (found.min_severity, found.min_confidence) == (None, Confidence.MEDIUM)
    assert found.origin == ()
    notes = {code.code for code in all_codes().values() if code.severity is Severity.NOTE}
    assert found.selection.enabled == set(all_codes()) - notes
    assert found.selection.named == frozenset()


@pytest.mark.parametrize("name", [".devlint.toml", "devlint.toml", "pyproject.toml"])
def test_each_file_name_is_read(tmp_path: Path, name: str) -> None:
    section = "[tool.devlint]\n" if name == "pyproject.toml" else ""
    (tmp_path / name).write_text(section + "min-confidence = 'high'\n")
    found = settings(tmp_path)
    assert found.min_confidence is Confidence.HIGH
    assert found.origin == (tmp_path / name,)


def test_the_nearest_file_wins_and_a_stranger_in_between_does_not_count(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "devlint.toml").write_text("min-severity = 'error'\nbare-noqa = true\n")
    (tmp_path / "a" / "pyproject.toml").write_text("[project]\nname = 'a'\n")
    assert settings(inner).min_severity is Severity.ERROR
    (tmp_path / "a" / "devlint.toml").write_text("min-severity = 'note'\n")
    assert settings(inner).min_severity is Severity.NOTE
    assert settings(inner).bare_noqa is False


def test_extend_lays_one_file_over_another(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text("min-severity = 'error'\nbare-noqa = true\nextend-exclude = ['gen']\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "devlint.toml").write_text(
        "extend = '../base.toml'\nmin-severity = 'note'\nextend-exclude = ['out']\n"
    )
    found = settings(tmp_path / "sub")
    assert (found.min_severity, found.bare_noqa) == (Severity.NOTE, True)
    assert found.excludes(str(tmp_path / "gen"), True)
    assert found.excludes(str(tmp_path / "sub" / "out"), True)
    assert not found.excludes(str(tmp_path / "out"), True)


def test_circles_of_extend_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("extend = 'b.toml'\n")
    (tmp_path / "b.toml").write_text("\nextend = 'a.toml'\n")
    with pytest.raises(ConfigurationError, match=r"b\.toml:2: `extend` leads back to"):
        read_config(tmp_path / "a.toml")


def test_globs_are_relative_to_their_file(tmp_path: Path) -> None:
    (tmp_path / "devlint.toml").write_text("[per-file-ignores]\n'/tests/*' = ['DEV9']\n'*.pyi' = ['DEV900']\n")
    found = settings(tmp_path)
    assert "DEV900" not in found.enabled_for(str(tmp_path / "tests" / "a.py"))
    assert "DEV900" not in found.enabled_for(str(tmp_path / "deep" / "a.pyi"))
    assert "DEV900" in found.enabled_for(str(tmp_path / "deep" / "tests" / "a.py"))
    assert "DEV900" in found.enabled_for("/elsewhere/tests/a.pyi")


def test_a_negated_glob_means_all_other_files(tmp_path: Path) -> None:
    (tmp_path / "devlint.toml").write_text("[per-file-ignores]\n'!src/**' = ['DEV9']\n")
    found = settings(tmp_path)
    assert "DEV900" in found.enabled_for(str(tmp_path / "src" / "pkg" / "a.py"))
    assert "DEV900" not in found.enabled_for(str(tmp_path / "tests" / "a.py"))
    assert "DEV900" not in found.enabled_for("/elsewhere/src/a.py")


def test_per_file_ignores_are_replaced_and_extended_as_in_ruff(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text("[per-file-ignores]\n'a.py' = ['DEV900']\n")
    (tmp_path / "devlint.toml").write_text("extend = 'base.toml'\n[extend-per-file-ignores]\n'b.py' = ['DEV900']\n")

    def on(found: Settings) -> list[str]:
        return [name for name in ("a.py", "b.py", "c.py") if "DEV900" in found.enabled_for(str(tmp_path / name))]

    assert on(settings(tmp_path)) == ["c.py"]
    assert on(settings(tmp_path, extend_per_file_ignores={"c.py": ["DEV9"]})) == []
    assert on(settings(tmp_path, per_file_ignores={"c.py": ["DEV9"]})) == ["a.py", "b.py"]


def test_the_command_line_is_over_every_file(tmp_path: Path) -> None:
    (tmp_path / "devlint.toml").write_text("min-severity = 'error'\nexclude = ['a']\nsrc = ['lib', '.']\n")
    found = settings(tmp_path, min_severity="note", exclude=["b"])
    assert found.min_severity is Severity.NOTE
    assert found.excludes(str(tmp_path / "b"), True)
    assert not found.excludes(str(tmp_path / "a"), True)
    assert found.src == ((tmp_path / "lib").resolve(), tmp_path.resolve())


@pytest.mark.parametrize(
    ("wanted", "met"),
    [
        ("0.1.0", True), ("==0.1", True), (">=0.1,<1", True), (">0.1", False), ("!=0.1.0", False),
        ("<=0.0.9", False), (">=0.1,<0.1", False),
    ],
)  # fmt: skip
def test_required_version(wanted: str, met: bool) -> None:
    assert satisfies("0.1.0", wanted) is met


@pytest.mark.parametrize("wanted", ["", "latest", "~=1", ">=1,", "1" * 5000])
def test_a_required_version_that_is_none(wanted: str) -> None:
    with pytest.raises(NoVersion, match="is no version"):
        satisfies("0.1.0", wanted)


def test_the_version_is_asked_for_before_keys_that_another_may_have(tmp_path: Path) -> None:
    (tmp_path / "devlint.toml").write_text("key-of-tomorrow = 1\nrequired-version = '>=99'\n")
    with pytest.raises(ConfigurationError, match=r"devlint.toml:2: requires devlint >=99"):
        read_config(tmp_path / "devlint.toml")


def enabled(*choices: Choice) -> set[str]:
    return {code for code in resolve(choices).enabled if code.startswith("DEV9") or code == "DEV101"}


def test_select_starts_anew_and_the_always_on_stay() -> None:
    assert enabled(Choice(select=("DEV101",))) == {"DEV101", "DEV901", "DEV902"}
    assert enabled(Choice(select=("DEV9",))) == {"DEV900", "DEV901", "DEV902"}
    assert enabled(Choice(select=())) == {"DEV901", "DEV902"}
    assert enabled(Choice(ignore=("ALL",))) == {"DEV901", "DEV902"}


def test_the_more_specific_selector_wins() -> None:
    assert "DEV101" in enabled(Choice(select=("DEV101",), ignore=("DEV1",)))
    assert "DEV101" not in enabled(Choice(select=("DEV1",), ignore=("DEV101",)))
    assert "DEV101" not in enabled(Choice(select=("DEV101",), ignore=("DEV101",)))
    assert "DEV900" in enabled(Choice(select=("DEV1",), extend_select=("DEV900",)))


def test_a_later_select_forgets_what_came_before() -> None:
    assert enabled(Choice(select=("DEV9",), ignore=("DEV101",)), Choice(select=("DEV101",))) == {
        "DEV101", "DEV901", "DEV902",
    }  # fmt: skip
    assert "DEV101" not in enabled(Choice(ignore=("DEV101",)), Choice(extend_select=("DEV900",)))


def test_lines_of_keys() -> None:
    text = (
        "[project]\nselect = 1\n\n[tool.devlint] # comment\nmin-severity = 'x'\n\"select\" = []\n"
        "[tool.devlint.per-file-ignores]\n'a' = []\n"
    )
    assert line_of(text, "tool.devlint", "min-severity") == 5
    assert line_of(text, "tool.devlint", "select") == 6
    assert line_of(text, "tool.devlint", "per-file-ignores") == 7
    assert line_of("tool.devlint.select = 1\n", "tool.devlint", "select") == 1
    assert line_of("\n[tool]\ndevlint = {select = 1}\n", "tool.devlint", "select") == 3
    assert line_of("\nselect = 1\n", "", "select") == 2
