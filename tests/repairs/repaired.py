"""The finding of a program, with the text it is in."""

from __future__ import annotations

import textwrap

from devlint.finding import Finding
from tests.fixture_expectations import lint_text

IMPORTS = "import torch\nimport torch.distributed as dist\nfrom torch import Tensor, nn\n\n\n"


def finding_of(code: str, program: str) -> tuple[str, Finding]:
    text = IMPORTS + textwrap.dedent(program).strip() + "\n"
    return text, next(finding for finding in lint_text(text, "lib/a.py") if finding.code == code)
