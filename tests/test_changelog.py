"""The changelog and its policy speak of what is there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import devlint
from devlint.configuration.codes import all_codes
from devlint.configuration.configfile import KEYS
from devlint.gate import baseline_file
from devlint.reports import json_document

ROOT = Path(__file__).parents[1]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
POLICY = CHANGELOG.split("## What a version may change")[1].split("\n## ")[0]


def test_the_version_is_one_and_stands_in_the_policy() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert declared == devlint.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+", declared)
    titles = re.findall(r"^## (.+)$", CHANGELOG, re.M)
    assert titles[1] == "Unreleased"
    assert all(re.fullmatch(r"\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d", title) for title in titles[2:])


def test_the_formats_are_of_the_version_that_the_policy_promises() -> None:
    assert f'JSON (`"version": {json_document.FORMAT_VERSION}`)' in POLICY
    assert baseline_file.FORMAT_VERSION == 1
    assert "required-version" in POLICY
    assert "required-version" in KEYS
    assert "`devlint.__all__`" in POLICY
    assert devlint.__all__


def test_every_code_that_is_named_is_one() -> None:
    named = set(re.findall(r"\bDEV\d{3}\b", CHANGELOG))
    assert named
    assert named <= all_codes().keys()
