"""The findings of the fixtures, which several sweeps begin with, computed once in a run of the tests."""

from __future__ import annotations

import hashlib
import os
import pickle
from pathlib import Path

import pytest

from devlint.finding import Finding
from tests.fixes.fixing import lint


class Known:
    """What is found in a text, kept in files so that all processes of a run share it."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        directory.mkdir(exist_ok=True)

    def findings(self, text: str, path: str) -> list[Finding]:
        kept = self._directory / hashlib.sha256(f"{path}\n{text}".encode()).hexdigest()
        if kept.exists():
            found: list[Finding] = pickle.loads(kept.read_bytes())
            return found
        found = lint(text, path)
        written = kept.with_suffix(f".{os.getpid()}")
        written.write_bytes(pickle.dumps(found))
        written.replace(kept)
        return found


@pytest.fixture(scope="session")
def known(tmp_path_factory: pytest.TempPathFactory) -> Known:
    own = tmp_path_factory.getbasetemp()
    return Known((own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "findings")
