"""The formats that are one document whatever was found: which there are, and how each is made."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from devlint.pipeline.result import Result
from devlint.reports.document import MACHINE_FORMATS, Document
from devlint.reports.repository import Repository
from devlint.reports.source_lines import SourceLines


def document(output_format: str, result: Result, cwd: Path, environment: Mapping[str, str]) -> Document:
    """The report in one of :data:`MACHINE_FORMATS`. Each imports only what it needs itself."""
    if output_format == "json":
        from devlint.reports.json_document import json_document

        return Document(json_document(result))
    if output_format == "json-lines":
        from devlint.reports.json_lines import json_lines

        return Document(json_lines(result))
    source = SourceLines(cwd, result.texts)
    if output_format == "html":
        from devlint.reports.html.page import html_document

        return Document(html_document(result, source))
    repository = Repository(cwd, [finding.place.path for finding in result.findings])
    if output_format == "gitlab":
        from devlint.reports.gitlab import gitlab_document

        return Document(gitlab_document(result, repository))
    if output_format == "junit":
        from devlint.reports.junit import junit_document

        return Document(junit_document(result, repository))
    if output_format == "github":
        from devlint.reports.github import github_document
        from devlint.reports.step_summary import blob_url, room_in_summary

        return github_document(result, repository, blob_url(environment), room_in_summary(environment))
    if output_format == "rdjson":
        from devlint.reports.rdjson import rdjson_document

        return Document(rdjson_document(result, source, repository))
    if output_format == "sarif":
        from devlint.reports.sarif import sarif_document

        return sarif_document(result, source, repository)
    raise ValueError(f"no machine format: {output_format}; there are {', '.join(sorted(MACHINE_FORMATS))}")
