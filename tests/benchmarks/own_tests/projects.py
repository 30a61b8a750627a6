"""The projects whose tests are run: one line each of projects.jsonl says what a run of them needs besides torch.

{"name": "kornia", "needs": "kornia_rs packaging scipy", "absent": "torchvision"}
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TABLE = Path(__file__).parent / "projects.jsonl"


@dataclass(frozen=True)
class Project:
    """How the tests of a project are run on the torch that is there."""

    name: str
    """What the ids of its bugs begin with; its environment is called so too."""
    needs: tuple[str, ...] = ()
    """Packages of its environment, as pip takes them."""
    tests: tuple[str, ...] = ("tests", "test")
    """Names of the directories, anywhere in the tree, that hold tests."""
    sources: tuple[str, ...] = (".", "src")
    """Directories that its packages are imported from."""
    absent: tuple[str, ...] = ()
    """Packages that are imported and not had: a test that uses them is skipped."""
    faked: tuple[str, ...] = ()
    """Packages that example_scripts/faked stands for, as far as it does."""
    options: tuple[str, ...] = ()
    """More arguments for pytest."""
    beside: tuple[str, ...] = ()
    """Repositories whose last commit before the bug's is imported as well: what the project was developed with."""
    lift: tuple[str, ...] = ()
    """What is lifted, as in ``devlint_lift``; without it all that the package of the bug's file defines."""
    stay: tuple[str, ...] = ()
    """What its users do not move, and may hand tensors on the accelerator all the same, as in ``devlint_stay``."""
    split: tuple[str, ...] = ()
    """Where it promises to take models whose output is not where their input is; without it none is handed to it."""

    @classmethod
    def of(cls, record: dict[str, str]) -> Project:
        """A line of a table, with its words apart. Raises AttributeError, KeyError or TypeError for what is none."""
        return cls(record["name"], **{key: tuple(value.split()) for key, value in record.items() if key != "name"})


@cache
def projects(table: Path = TABLE) -> tuple[Project, ...]:
    """The table. Raises ValueError naming the line of a record that is no project."""
    found: dict[str, Project] = {}
    for number, line in enumerate(table.read_text("utf-8").splitlines(), 1):
        try:
            project = Project.of(json.loads(line))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{table}:{number}: not a project: {error}") from None
        if project.name.lower() in found:
            raise ValueError(f"{table}:{number}: {project.name} twice")
        found[project.name.lower()] = project
    return tuple(found.values())


def project_of(bug: str) -> Project | None:
    """The project that the id of a bug belongs to: ids are its name, the fix and the line."""
    name = bug.rsplit("-", 2)[0].lower()
    return next((project for project in projects() if project.name.lower() == name), None)
