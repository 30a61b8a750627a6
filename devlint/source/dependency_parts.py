"""The parts of a file that a dependency can name, each a plain string."""

from __future__ import annotations

SIGNS = ""
"""What the file as a whole is: its role, as far as its text tells. It belongs to each other part."""

IMPORTS = "imports"
"""Where all imports of the file lead."""

MODULE = "module"
"""The statements of the module level that do more than bind a name."""

CLASS_NAMES = "class names"
"""The names of definitions and imports that are written as those of classes are."""

CLASSES = "classes"
"""What these names stand for, and all classes that the file defines."""

PROGRAM = "program"
"""All of it."""


def name_part(name: str) -> str:
    """What a name of the module level stands for, or that it stands for nothing."""
    return f"name:{name}"


def attribute_part(name: str) -> str:
    """Which definitions mention this attribute of ``self``."""
    return f"attribute:{name}"


def calls_part(name: str) -> str:
    """Which definitions call something by this private name."""
    return f"calls:{name}"


def binding_part(name: str) -> str:
    """Whether anything in the file may bind a name, be it a definition within another or a call that binds any."""
    return f"binding:{name}"


def only_mention_part(name: str) -> str:
    """Whether a name stands in the file once."""
    return f"once:{name}"


def body_part(qualname: str) -> str:
    """The body of a definition, or of the one that it stands in."""
    return f"body:{qualname}"
