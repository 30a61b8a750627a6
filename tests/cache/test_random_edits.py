"""A small project edited at random: after every edit a run with the cache says what one without it says."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cache.conftest import HELPER, LOOSE, NET, Project
from tests.thoroughness import chosen

_FILES = (
    "pkg/__init__.py", "pkg/helper.py", "pkg/net.py", "pkg/loose.py", "pkg/helper/__init__.py", "helper.py",
    "pkg/deep/__init__.py", "pkg/deep/more.py", "src/pkg/helper.py", "tests/test_net.py", "setup.cfg",
)  # fmt: skip

_TEXTS = (
    "",
    HELPER,
    HELPER.replace("torch.zeros(n)", "n"),
    HELPER.replace('"""A base."""', '"""Another base,\n\n    with more lines."""'),
    HELPER.replace("return 2", "return 2  # torch.zeros"),
    NET,
    NET.replace("pkg.helper", "helper"),
    NET.replace("from pkg.helper", "from .helper"),
    LOOSE,
    LOOSE.replace("torch.ones(4)", "torch.ones(4)  # noqa: DEV101"),
    "from pkg.helper import *\nfrom .deep import more\n",
    "from pkg.helper import Base as Base, make as make\n",
    "def make(n):\n    return n  # nothing of torch: only the word\n",
    "def make(n):\n    return n\n",
    "import torch\ndef (:\n",
    "x = 1  # noqa: DEV101\n",
)

_edits = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(_FILES), st.sampled_from(_TEXTS)),
    st.tuples(st.just("write"), st.sampled_from(_FILES[1:4]), st.sampled_from(_TEXTS)),
    st.tuples(st.just("remove"), st.sampled_from(_FILES), st.just("")),
    st.tuples(st.just("rename"), st.sampled_from(_FILES), st.sampled_from(_FILES)),
    st.tuples(st.just("touch"), st.sampled_from(_FILES), st.just("")),
    st.tuples(st.just("age"), st.just(""), st.just("")),
    st.tuples(st.just("lint one"), st.sampled_from(_FILES), st.just("")),
)


@settings(max_examples=chosen(gate=12, search=25), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(_edits, min_size=3, max_size=10))
def test_the_cache_makes_no_difference(edits: list[tuple[str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        project = Project(Path(name, "project"))
        for file, text in {"pyproject.toml": "", "pkg/__init__.py": "", "pkg/helper.py": HELPER}.items():
            project.write(file, text)
        project.write("pkg/net.py", NET)
        project.write("pkg/loose.py", LOOSE)
        project.agrees()
        for kind, file, other in edits:
            _apply(project, kind, file, other)
            project.agrees()


def _apply(project: Project, kind: str, file: str, other: str) -> None:
    path = project.root / file
    if kind == "write":
        if path.parent.is_file():
            path.parent.unlink()
        if not path.is_dir():
            project.write(file, other)
    elif kind == "remove" and path.is_file():
        path.unlink()
    elif kind == "remove" and path.parent.is_dir() and path.parent != project.root:
        shutil.rmtree(path.parent)
    elif kind == "rename" and path.is_file() and not (project.root / other).is_dir():
        (project.root / other).parent.mkdir(parents=True, exist_ok=True)
        path.rename(project.root / other)
    elif kind == "touch" and path.is_file():
        os.utime(path)
    elif kind == "age":
        for found in [*project.root.rglob("*"), project.root]:
            if ".devlint_cache" not in found.parts:
                os.utime(found, (1, 1))
    elif kind == "lint one" and path.is_file():
        found = project.lint(file)
        assert found == project.lint(file, cached=False)
