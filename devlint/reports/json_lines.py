"""One JSON object a line for each finding, as it stands in the JSON form: for programs that read as they go."""

from __future__ import annotations

import json

from devlint.pipeline.result import Result
from devlint.reports.json_document import finding_fields


def json_lines(result: Result) -> str:
    """Nothing at all for a clean run. ASCII only, like the JSON form."""
    return "".join(json.dumps(finding_fields(finding)) + "\n" for finding in result.findings)
