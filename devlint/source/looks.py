"""The parts of another file that an analysis looks at, each named by a plain string."""

from __future__ import annotations

SIGNS = ""
"""What the whole file shows by a sign. It is a part of each other part."""

IMPORTS = "imports"
"""Where all imports of the file lead."""

MODULE = "module"
"""What running the module level comes to."""

PROGRAM = "program"
"""All of it."""


def name_part(name: str) -> str:
    """What a name of the module level stands for, or that it stands for nothing."""
    return f"name:{name}"


def body_part(qualname: str) -> str:
    """The body of a definition, or of the one that it stands in."""
    return f"body:{qualname}"
