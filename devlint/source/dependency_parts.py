"""The parts of a file that a dependency can name, each a plain string."""

from __future__ import annotations

SIGNS = ""
"""What the file as a whole is: whether it is a main program. It belongs to each other part."""

IMPORTS = "imports"
"""Where all imports of the file lead."""

MODULE = "module"
"""The statements of the module level that do more than bind a name."""

PROGRAM = "program"
"""All of it."""


def name_part(name: str) -> str:
    """What a name of the module level stands for, or that it stands for nothing."""
    return f"name:{name}"


def body_part(qualname: str) -> str:
    """The body of a definition, or of the one that it stands in."""
    return f"body:{qualname}"
