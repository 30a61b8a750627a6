"""What a command imports: no more than it needs, for that is most of what a short run costs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.cli.conftest import environment

COSTLY = (
    "_hashlib", "asyncio", "difflib", "email", "html", "http", "importlib.metadata", "libcst", "logging",
    "multiprocessing", "numpy", "pkgutil", "rich", "socket", "ssl", "subprocess", "tempfile",
    "tomllib", "torch", "unittest", "xml",
)  # fmt: skip
"""What costs a millisecond or more to import, and is needed by some runs only."""

PROGRAM = {
    "devlint", "devlint.__main__", "devlint.cli", "devlint.cli.interrupts", "devlint.cli.main", "devlint.cli.terminal",
    "devlint.configuration", "devlint.configuration.complaint",
}  # fmt: skip
"""The program itself."""

RULE = PROGRAM | {
    "devlint.cli.completion", "devlint.cli.rule", "devlint.configuration.codes", "devlint.finding",
    "devlint.records", "devlint.reports", "devlint.reports.painting", "devlint.rules", "devlint.rules.registry",
}  # fmt: skip

CHECK = RULE - {"devlint.cli.rule"} | {
    "devlint.check", "devlint.cli.arguments", "devlint.cli.check", "devlint.cli.report", "devlint.cli.sections",
    "devlint.configuration.config", "devlint.configuration.configfile", "devlint.configuration.required_version",
    "devlint.gate", "devlint.gate.novelty", "devlint.gate.wanted", "devlint.pipeline", "devlint.pipeline.planning",
    "devlint.pipeline.processors", "devlint.pipeline.result", "devlint.pipeline.task", "devlint.reports.document",
    "devlint.reports.summary", "devlint.reports.verdict", "devlint.source", "devlint.source.discovery",
    "devlint.source.globs", "devlint.source.ignorefiles", "devlint.source.project", "devlint.source.reading",
    "devlint.source.toml", "devlint.source.tree", "devlint.source.writing",
}  # fmt: skip

WARM = CHECK | {
    "devlint.cache", "devlint.cache.contents", "devlint.cache.earlier", "devlint.cache.entries", "devlint.cache.packs",
    "devlint.cache.place", "devlint.cache.reading", "devlint.cache.rows", "devlint.cache.running",
    "devlint.cache.session", "devlint.cache.shelf",
    "devlint.cache.table", "devlint.cache.verbatim", "devlint.cache.verification", "devlint.cache.version",
    "devlint.pipeline.deep_stack", "devlint.pipeline.path_symbols", "devlint.pipeline.stages",
    "devlint.pipeline.stages.display_paths", "devlint.source.decoding", "devlint.source.dependencies",
    "devlint.source.line_ends", "devlint.source.package_signs", "devlint.source.word_search",
}  # fmt: skip

WITHOUT_TORCH = CHECK | {
    "devlint.cache", "devlint.cache.running",
    "devlint.pipeline.deep_stack", "devlint.pipeline.failures", "devlint.pipeline.file_report",
    "devlint.pipeline.lint_result", "devlint.pipeline.own_findings", "devlint.pipeline.path_symbols",
    "devlint.pipeline.postponed", "devlint.pipeline.recording", "devlint.pipeline.stages",
    "devlint.pipeline.stages.cells", "devlint.pipeline.stages.display_paths", "devlint.pipeline.stages.edits",
    "devlint.pipeline.stages.fingerprints", "devlint.pipeline.stages.parsing", "devlint.pipeline.stages.reading",
    "devlint.pipeline.stages.selecting", "devlint.pipeline.stages.suppressing", "devlint.pipeline.workers",
    "devlint.source.deadline", "devlint.source.decoding", "devlint.source.dependencies", "devlint.source.gate",
    "devlint.source.line_ends", "devlint.source.python_parser", "devlint.source.role", "devlint.source.screen",
    "devlint.source.source_file",
    "devlint.source.string_pattern", "devlint.source.suppression", "devlint.source.words_of_torch",
}  # fmt: skip


def _imported(directory: Path, *arguments: str) -> set[str]:
    """Every module that a run of devlint imports."""
    command = [sys.executable, "-P", "-X", "importtime", "-m", "devlint", *arguments]
    done = subprocess.run(command, cwd=directory, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return set(re.findall(r"^import time:[ \d]+\|[ \d]+\| *(\S+)$", done.stderr, re.M))


def _ours(modules: set[str]) -> set[str]:
    return {name for name in modules if name.split(".")[0] == "devlint"}


def _costly(modules: set[str]) -> set[str]:
    return {name for name in modules if name in COSTLY or name.split(".")[0] in COSTLY}


def test_the_version_is_told_by_the_program_alone(tmp_path: Path) -> None:
    modules = _imported(tmp_path, "--version")
    assert _ours(modules) <= PROGRAM
    assert _costly(modules) == set()


def test_a_rule_is_explained_without_importing_the_rules(tmp_path: Path) -> None:
    modules = _imported(tmp_path, "rule", "DEV101")
    assert _ours(modules) <= RULE
    assert _costly(modules) == set()


def test_a_cached_run_imports_the_cache_and_no_analysis(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "net.py").write_text("import torch\n\n\ndef shift(x):\n    return x + torch.ones_like(x)\n")
    _imported(tmp_path, "check", "net.py")
    modules = _imported(tmp_path, "check", "net.py")
    assert _ours(modules) <= WARM
    assert _costly(modules) <= {"_hashlib", "tomllib", "tomllib._parser", "tomllib._re", "tomllib._types"}


def test_a_run_over_files_without_torch_imports_no_rule_and_no_placement(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text("import os\n")
    modules = _imported(tmp_path, "check", "--isolated", "--no-cache", "plain.py")
    assert _ours(modules) <= WITHOUT_TORCH
    assert _costly(modules) == set()
