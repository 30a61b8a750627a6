"""Qualified names of local names: the aliases that a file's imports bind, read once per file."""

from __future__ import annotations

import re
from functools import cached_property

import libcst as cst

from devlint.placement.syntax.nodes import dotted, string_value
from devlint.source.imports_by_call import CALLS, bound, modules_by_call
from devlint.source.outline import Import

CANONICAL = {
    "torch.nn.functional": "torch.nn.functional",
    "torch.nn.parameter.Parameter": "torch.nn.Parameter",
    "torch.nn.modules.module.Module": "torch.nn.Module",
    "torch._C.device": "torch.device",
    "torch.tensor.Tensor": "torch.Tensor",
    "torch._tensor.Tensor": "torch.Tensor",
    "np": "numpy",
}
"""Torch objects with several names; the right-hand side is the name that the tables use."""


def imported_names(statement: cst.Import | cst.ImportFrom | cst.Assign) -> list[tuple[str, str]]:
    """Pairs of (local name, qualified name) that an import statement binds. A relative import keeps its dots.

    An assignment is one where its value is a call that imports.
    """
    if isinstance(statement, cst.Assign):
        return _by_call(statement)
    if isinstance(statement, cst.Import):
        return [_plain(alias) for alias in statement.names]
    if isinstance(statement.names, cst.ImportStar):
        return []
    module = module_of(statement)
    pairs = []
    for alias in statement.names:
        name = dotted(alias.name) or ""
        local = dotted(alias.asname.name) if alias.asname and isinstance(alias.asname.name, cst.Name) else name
        joiner = "" if not module or module.endswith(".") else "."
        pairs.append((local or name, canonical(f"{module}{joiner}{name}")))
    return pairs


def names_of(one: Import) -> tuple[str, str]:
    """The same pair for an import by name that was read from :mod:`ast`."""
    if one.module is None:
        if one.alias is not None:
            return one.alias, canonical(one.name)
        first = one.name.split(".", 1)[0]
        return first, first
    joiner = "" if not one.module or one.module.endswith(".") else "."
    return one.alias or one.name, canonical(f"{one.module}{joiner}{one.name}")


def module_of(statement: cst.ImportFrom) -> str:
    """The module that names are imported from; a relative one keeps its dots."""
    return "." * len(statement.relative) + (dotted(statement.module) or "" if statement.module is not None else "")


def _plain(alias: cst.ImportAlias) -> tuple[str, str]:
    full = dotted(alias.name) or ""
    if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
        return alias.asname.name.value, canonical(full)
    first = full.split(".", 1)[0]
    return first, first


def _by_call(statement: cst.Assign) -> list[tuple[str, str]]:
    call = statement.value
    if not isinstance(call, cst.Call) or len(statement.targets) != 1:
        return []
    called = (dotted(call.func) or "").rpartition(".")[2]
    if called not in CALLS:
        return []
    target = statement.targets[0].target
    parts = [element.value for element in target.elements] if isinstance(target, cst.Tuple) else [target]
    first = call.args[0].value if call.args else None
    modules = modules_by_call(called, string_value(first.value) if isinstance(first, cst.SimpleString) else None)
    return [*bound((part.value if isinstance(part, cst.Name) else None for part in parts), modules)]


def canonical(name: str) -> str:
    found = CANONICAL.get(name)
    if found is not None:
        return found
    if name.startswith("torch.nn.modules.") and name.rsplit(".", 1)[-1][:1].isupper():
        return "torch.nn." + name.rsplit(".", 1)[-1]
    return name


class ImportTable(dict[str, str]):
    """Local name to qualified name, over all import statements of a file."""

    def qualified(self, name: str | None) -> str:
        """The qualified name of a dotted local name."""
        if not name:
            return ""
        head, _, rest = name.partition(".")
        base = self.get(head, head)
        return f"{base}.{rest}" if rest else base

    @cached_property
    def packages(self) -> frozenset[str]:
        """The top-level packages that the names come from."""
        return frozenset(name.partition(".")[0] for name in self.values())

    def spelled_out(self, annotation: str) -> str:
        """The text of an annotation with the types of torch and typing under their own names (`Tensor as T`)."""
        if not self._renamed_types:
            return annotation
        return _FIRST_NAMES.sub(lambda match: self._renamed_types.get(match[0], match[0]), annotation)

    @cached_property
    def _renamed_types(self) -> dict[str, str]:
        """Local names of types, and the last part of the names that they have where they come from."""
        types = ((local, name) for local, name in self.items() if name.partition(".")[0] in _LIBRARIES_OF_TYPES)
        last = ((local, name.rpartition(".")[2]) for local, name in types if "." in name)
        return {local: name for local, name in last if name != local}


_LIBRARIES_OF_TYPES = frozenset({"torch", "typing", "typing_extensions", "collections", "numpy"})
_FIRST_NAMES = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
