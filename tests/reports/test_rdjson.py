"""reviewdog's diagnostic format."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hypothesis import given, settings

from devlint.finding import Applicability, Edit, Finding, Fix, Place
from devlint.pipeline.result import Result
from devlint.reports.rdjson import rdjson_document
from tests.reports.examples import CLEAN, FINDING, NET, NOTE, RESULT, findings, repository, source

# The messages of proto/rdf/reviewdog.proto and their fields, as far back as reviewdog 0.12. protojson, by which
# reviewdog reads them, refuses a document with any other field.
_POSITION = {"line": int, "column": int}
_RANGE = {"start": _POSITION, "end": _POSITION}
_DIAGNOSTIC = {
    "message": str,
    "location": {"path": str, "range": _RANGE},
    "severity": str,
    "source": {"name": str, "url": str},
    "code": {"value": str, "url": str},
    "suggestions": [{"range": _RANGE, "text": str}],
    "original_output": str,
}
DIAGNOSTIC_RESULT = {"diagnostics": [_DIAGNOSTIC], "source": {"name": str, "url": str}, "severity": str}


def assert_is(value: Any, form: Any) -> None:
    if isinstance(form, dict):
        for name, inner in value.items():
            assert_is(inner, form[name])
    elif isinstance(form, list):
        for inner in value:
            assert_is(inner, form[0])
    else:
        assert type(value) is form


def written(result: Result, texts: dict[str, bytes] | None = None) -> list[dict[str, Any]]:
    document = json.loads(rdjson_document(result, source(texts), repository()))
    assert_is(document, DIAGNOSTIC_RESULT)
    assert document["source"] == {"name": "devlint"}
    for diagnostic in document["diagnostics"]:
        assert diagnostic["severity"] in ("ERROR", "WARNING", "INFO")
    diagnostics: list[dict[str, Any]] = document["diagnostics"]
    return diagnostics


def test_a_diagnostic() -> None:
    diagnostic = written(RESULT)[0]
    assert diagnostic["message"].splitlines()[:2] == [
        "`hidden` is created on the CPU; `self.rnn` fails when the model is on an accelerator",
        "1 `torch.zeros`: made here, on cpu (src/net.py:5:14)",
    ]
    assert diagnostic["location"] == {
        "path": "src/net.py",
        "range": {"start": {"line": 5, "column": 14}, "end": {"line": 5, "column": 28}},
    }
    assert diagnostic["code"] == {"value": "DEV101"}
    at = {"line": 5, "column": 27}
    assert diagnostic["suggestions"] == [{"range": {"start": at, "end": at}, "text": ", device=x.device"}]
    assert [entry["severity"] for entry in written(Result((*RESULT.findings, NOTE), 1))] == ["ERROR", "WARNING", "INFO"]


def test_a_clean_run_has_no_diagnostics() -> None:
    assert written(CLEAN) == []


def test_columns_count_bytes_in_utf8_whatever_the_files_encoding_is() -> None:
    text = "# coding: latin-1\nx = 'é' + y\n"
    data = text.encode("latin-1")
    at = data.index(b" y") + 1
    fix = Fix(Applicability.SAFE, "no", (Edit(at, at + 1, "z"),))
    finding = replace(FINDING, place=Place("b.py", 2, 11, 2, 12), trace=(), fix=fix)
    (diagnostic,) = written(Result((finding,), 1), {"b.py": data})
    expected = {"start": {"line": 2, "column": 12}, "end": {"line": 2, "column": 13}}
    assert diagnostic["location"]["range"] == expected
    assert diagnostic["suggestions"][0]["range"] == expected


def test_the_columns_of_the_formats_own_example() -> None:
    finding = replace(FINDING, place=Place("b.py", 1, 3, 1, 4), fix=None)
    (diagnostic,) = written(Result((finding,), 1), {"b.py": "a\U00010400b\n".encode()})
    assert diagnostic["location"]["range"] == {"start": {"line": 1, "column": 6}, "end": {"line": 1, "column": 7}}


def test_a_fix_that_reaches_into_another_file_is_no_suggestion() -> None:
    fix = Fix(Applicability.SAFE, "no", (Edit(0, 1, "z"), Edit(0, 1, "z", path="other.py")))
    (diagnostic,) = written(Result((replace(FINDING, fix=fix),), 1), {"other.py": NET})
    assert "suggestions" not in diagnostic


def test_in_a_notebook_only_the_line_of_the_file_is_told() -> None:
    place = Place("nb.ipynb", 2, 5, 2, 9, cell=3, file_line=40)
    (diagnostic,) = written(Result((replace(FINDING, place=place),), 1))
    assert diagnostic["location"]["range"] == {"start": {"line": 40}, "end": {"line": 40}}


@settings(max_examples=40, deadline=None)
@given(findings())
def test_no_text_breaks_the_document(finding: Finding) -> None:
    json.dumps(written(Result((finding,), 1), {finding.place.path: NET}), ensure_ascii=False).encode("utf-8")
