"""The published schemas: every document and every configuration that devlint takes or makes is valid by them."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from importlib import resources
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from devlint.configuration.configfile import ENTRY_KEYS, KEYS, ConfigurationError, check_values
from devlint.pipeline.result import EntryRun, Result
from devlint.reports.json_document import SCHEMA, finding_fields, json_document
from tests.reports.examples import CLEAN, CONFIRMED, FINDING, NOTE, REFUTED, RESULT


def schema(name: str) -> dict[str, Any]:
    text = resources.files("devlint").joinpath("schemas", f"{name}.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    Draft202012Validator.check_schema(found)
    return found


OUTPUT, CONFIGURATION = (Draft202012Validator(schema(name)) for name in ("output", "configuration"))
ENTRY = EntryRun("net:build", "cuda:0", True, "ran")


@pytest.mark.parametrize(
    "result",
    [RESULT, CLEAN, replace(RESULT, findings=(FINDING, NOTE, CONFIRMED, REFUTED), fixed=1, entries=(ENTRY,))],
)
def test_every_document_is_valid_and_names_its_schema(result: Result) -> None:
    document = json.loads(json_document(result))
    assert document["$schema"] == SCHEMA == schema("output")["$id"]
    assert [error.message for error in OUTPUT.iter_errors(document)] == []


@pytest.mark.parametrize("field", sorted(finding_fields(FINDING)))
def test_a_document_without_one_of_its_fields_is_not(field: str) -> None:
    document = json.loads(json_document(RESULT))
    del document["findings"][0][field]
    assert not OUTPUT.is_valid(document)


def test_the_schema_knows_every_key_and_every_word() -> None:
    known = schema("configuration")
    assert set(known["properties"]) == set(KEYS)
    for key, kind in KEYS.items():
        assert known["properties"][key].get("enum") == (list(kind) if isinstance(kind, tuple) else None)
    assert set(known["$defs"]["entry"]["properties"]) == set(ENTRY_KEYS)


VALID = [
    "", "select = ['DEV1', 'all', 'dev101']", "exclude = ['a', '*.py']", "per-file-ignores = {'!src/' = ['DEV3']}",
    "required-version = '>=0.1,<1'", "min-severity = 'note'", "[[entries]]\nentry = 'a:b'\ninputs = ['x']",
    "fix = true", "src = ['.', 'src']", "baseline = 'known.json'",
]  # fmt: skip
INVALID = [
    "selct = ['DEV1']", "select = 'DEV1'", "select = ['E501']", "select = [1]", "exclude = ['']", "fix = 1",
    "min-severity = 'fatal'", "[[entries]]\nentri = 'a:b'", "entries = {}", "per-file-ignores = ['a']", "src = 'src'",
    "baseline = 3", "per-file-ignores = {a = 'DEV1'}",
]  # fmt: skip


@pytest.mark.parametrize("text", VALID)
def test_what_devlint_takes_is_valid(text: str) -> None:
    values = tomllib.loads(text)
    assert check_values(values, lambda key: "") == values
    assert [error.message for error in CONFIGURATION.iter_errors(values)] == []


@pytest.mark.parametrize("text", INVALID)
def test_what_devlint_refuses_is_not(text: str) -> None:
    values = tomllib.loads(text)
    with pytest.raises(ConfigurationError):
        check_values(values, lambda key: "")
    assert not CONFIGURATION.is_valid(values)
