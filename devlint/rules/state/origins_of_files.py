"""Where the file that is loaded comes from, as far as the function that loads it shows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst

_DOWNLOADS = re.compile("download|urlretrieve|from_url|hub|cached_(path|file)|pooch")
"""Words in the names of functions that bring a file from elsewhere and give its path."""

_NAMED = re.compile("^get_.*(model|weight|checkpoint|pretrained)")
"""Names of functions that give the file of a model by the model's name."""

_AGAIN = re.compile("(^|_)reload(_|$)")

_HOST_STATES = ("scheduler", "scaler", "rng", "random_state")
"""Words for what schedulers, gradient scalers and random generators save."""


def holds_host_state(name: str) -> bool:
    return any(word in name.lower() for word in _HOST_STATES)


def is_downloaded(function: cst.CSTNode, source: cst.CSTNode) -> bool:
    """Whether the package's authors published the file: whatever they saved, they can load it on other machines."""
    import libcst as cst

    from devlint.placement.syntax.nodes import descend, dotted

    for part in _sources(function, source):
        for call in descend(part):
            if not isinstance(call, cst.Call):
                continue
            name = (dotted(call.func) or "").rpartition(".")[2].lower()
            literal = bool(call.args) and isinstance(call.args[0].value, cst.SimpleString)
            if _DOWNLOADS.search(name) is not None or (literal and _NAMED.search(name) is not None):
                return True
    return False


def is_downloaded_to(function: cst.CSTNode, source: cst.CSTNode) -> bool:
    """`urlretrieve(url, path)`: whether the function itself downloads to this path."""
    import libcst as cst

    from devlint.placement.syntax.nodes import code_of, descend, dotted

    text = code_of(source)
    calls = (part for part in descend(function) if isinstance(part, cst.Call))
    downloads = (call for call in calls if _DOWNLOADS.search((dotted(call.func) or "").rpartition(".")[2].lower()))
    return any(code_of(argument.value) == text for call in downloads for argument in call.args)


def is_of_this_run(function: cst.CSTNode, source: cst.CSTNode, saved: Collection[str]) -> bool:
    """Whether it is loaded again: the function says so, or by default it is what the same file of code saved."""
    import libcst as cst

    from devlint.placement.syntax.nodes import code_of, descend

    if not isinstance(function, cst.FunctionDef):
        return False
    if _AGAIN.search(function.name.value) is not None:
        return True
    names = {part.value for part in descend(source) if isinstance(part, cst.Name)}
    params = (*function.params.params, *function.params.kwonly_params)
    return any(p.name.value in names and p.default is not None and code_of(p.default) in saved for p in params)


def _sources(function: cst.CSTNode, source: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The expression, and what the names in it are bound to in the function."""
    import libcst as cst

    from devlint.placement.syntax.nodes import descend

    yield source
    names = {part.value for part in descend(source) if isinstance(part, cst.Name)}
    for statement in descend(function):
        if isinstance(statement, cst.Assign):
            targets = (target.target for target in statement.targets)
            if any(isinstance(target, cst.Name) and target.value in names for target in targets):
                yield statement.value
