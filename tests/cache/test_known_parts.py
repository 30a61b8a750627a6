"""What is known of the files around a changed one is not computed again, and is what would be computed."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from devlint.cache.reading import read_sealed
from devlint.source.part_fingerprints import PartFingerprints
from devlint.source.program import Program
from tests.cache.conftest import Project
from tests.cache.edits import edited
from tests.cache.test_edits import FILES, deep  # noqa: F401
from tests.thoroughness import chosen

State = tuple[str, str, tuple[str, ...]]
"""A file, the digest of its content, and parts of it."""


def _fingerprints(directory: Path) -> set[tuple[State, str]]:
    """What the entries below a directory hold of the files that they depend on."""
    packs = [json.loads(read_sealed(path)[0]) for path in directory.rglob("packs/*.json")]
    entries = [json.loads(text) for pack in packs for texts in pack.values() for text in texts]
    return {
        ((file, digest, tuple(parts)), fingerprint)
        for entry in entries
        for file, digest, _, _, parts, fingerprint in entry["parsed"]
    }


@pytest.mark.parametrize("seed", range(chosen(gate=2, search=4)))
def test_fingerprints_of_a_run_after_an_edit_are_those_of_a_first_run(
    deep: Project,  # noqa: F811
    tmp_path: Path,
    seed: int,
) -> None:
    draw = random.Random(seed)
    kept = tmp_path / "kept"
    deep.lint(cache_dir=str(kept))
    for step in range(5):
        name = draw.choice(list(FILES))
        deep.write(name, edited((deep.root / name).read_text(), draw))
        again = deep.lint(cache_dir=str(kept))
        assert deep.lint(cache_dir=str(tmp_path / f"new{step}")) == again
    found = _fingerprints(tmp_path)
    assert len(found) > len(FILES)
    assert len(dict(found)) == len(found), "each state has one fingerprint, whichever run made it"


def test_of_files_that_have_not_changed_nothing_is_fingerprinted_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.lint()
    fingerprinted: list[str] = []
    original = PartFingerprints.__init__

    def watched(self: PartFingerprints, program: Program) -> None:
        fingerprinted.append(program.text)
        original(self, program)

    monkeypatch.setattr(PartFingerprints, "__init__", watched)
    project.replace("pkg/net.py", "make(3)", "make(4)")
    project.lint()
    assert project.analysed == ["pkg/net.py"]
    assert not any("def make" in text for text in fingerprinted)
    project.replace("pkg/loose.py", "torch.ones(4)", "torch.ones(4) * scale()")
    project.replace("pkg/loose.py", "import Base", "import Base, scale")
    project.agrees()
    assert any("def make" in text for text in fingerprinted), "other parts of it are read now"


def test_a_changed_file_is_fingerprinted_as_it_is_now(project: Project) -> None:
    project.lint()
    project.replace("pkg/helper.py", "torch.zeros(n)", "n")
    project.replace("pkg/net.py", "make(3)", "make(4)")
    project.agrees()
    project.replace("pkg/helper.py", "return n", "return torch.zeros(n)")
    project.agrees()
    assert "pkg/net.py" in project.analysed
