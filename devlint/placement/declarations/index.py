"""The definitions of one file: classes with their bases and methods, functions with their enclosing class.

The index is built from names alone; nothing is evaluated. Definitions of other files remain names here. They are
resolved by the workspace (:mod:`devlint.placement.project.workspace`) or the library tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

import libcst as cst

from devlint.placement.declarations.default_settings import sets_default
from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
from devlint.placement.declarations.imports import ImportTable, imported_names, module_of, names_of
from devlint.placement.syntax.nodes import (
    FunctionNode,
    body_of,
    decorator_names,
    descend,
    dotted,
    inner_nodes,
    semantic_children,
)
from devlint.source.outline import Definition, Outline


@dataclass(eq=False, slots=True)
class FileIndex:
    """What a file defines and imports."""

    imports: ImportTable
    classes: dict[int, ClassInfo]
    """By the identity of the ClassDef node."""
    functions: dict[int, FunctionInfo]
    """By the identity of the FunctionDef node."""
    read_names: frozenset[str]
    """Every name that occurs in the file."""
    indirect: frozenset[str]
    """Names of definitions that occur other than as the callee of a call: their callers are not all known."""
    rebound: frozenset[str]
    """Module-level names that some definition declares ``global``: their values depend on execution order."""
    stars: tuple[str, ...] = ()
    """Modules imported with ``*``, in source order."""
    sets_default: bool = False
    """Something may leave the default device other than it found it."""
    top_level: dict[str, FunctionInfo | ClassInfo] = field(default_factory=dict)
    """Module-level definitions by name; the last of several."""
    bound: frozenset[str] = frozenset()
    """Names that module-level statements bind, except definitions and imports."""
    literals: dict[str, Literal] = field(default_factory=dict)
    """Names that are bound once, each by a statement of the module that assigns it a number or a string."""
    once: frozenset[str] = frozenset()
    """Names that occur once: a definition with such a name is used nowhere in its file."""
    class_names: tuple[str, ...] = ()
    """Names of module-level definitions and imports that are written as those of classes are."""
    defined: Counter[str] = field(default_factory=Counter)
    """For each name, how many functions of the file have it."""

    def in_order(self) -> list[FunctionInfo]:
        """Every definition in source order, nested ones included."""
        for info in list(self.functions.values()):
            _ = info.node  # Parsing adds the nested definitions to the index.
        return sorted(self.functions.values(), key=lambda info: info.number)

    def whole(self, header: cst.FunctionDef) -> cst.FunctionDef:
        """The whole definition that has this header."""
        info = self.functions.get(id(header))
        node = info.node if info is not None else header
        return node if isinstance(node, cst.FunctionDef) else header

    def dissolve(self) -> None:
        """Break the reference cycles between classes and their methods; the index is not used afterwards."""
        for info in self.functions.values():
            info.forget()
        for defined in self.classes.values():
            defined.methods.clear()

    def qualified(self, name: str | None) -> str:
        """The qualified name of a dotted local name."""
        return self.imports.qualified(name)


Reader = Callable[[int], FunctionNode | None]
"""Parses the whole definition of a given number; None if that fails."""


def index_file(tree: cst.Module, outline: Outline | None = None, read: Reader | None = None) -> FileIndex:
    """The index of a file.

    ``tree`` may be its skeleton: ``outline`` then describes the missing bodies, and ``read`` parses them. Without an
    outline, for text that :mod:`ast` cannot parse, everything is read from the tree.
    """
    index = _index_of_names(tree) if outline is None else _index_of_outline(outline)
    bound = Counter(_bound_names(tree))
    index.bound = frozenset(bound)
    indexing = _Indexing(index, outline.definitions if outline is not None else [], read)
    indexing.block(tree, "", None, {})
    defined: list[FunctionInfo | ClassInfo] = [*index.functions.values(), *index.classes.values()]
    index.top_level.update({info.qualname: info for info in defined if "." not in info.qualname})
    for name in indexing.stood_in_for:
        index.top_level.pop(name, None)
    index.literals = {
        name: value
        for name, value in _assigned_literals(tree)
        if bound[name] == 1 and name not in index.top_level and name not in index.imports
    }
    index.class_names = tuple(name for name in (*index.top_level, *index.imports) if name[:1].isupper())
    return index


def _index_of_outline(outline: Outline) -> FileIndex:
    names: dict[str, str] = {}
    stars: list[str] = []
    for one in outline.imports:
        if one.name == "*":
            stars.append(one.module or "")
        else:
            names.update([names_of(one)])
    index = _empty_index(names, stars, outline.rebound, outline.mentions, outline.direct, outline.defined)
    index.sets_default = outline.sets_default
    return index


def _index_of_names(tree: cst.Module) -> FileIndex:
    names: dict[str, str] = {}
    mentions: Counter[str] = Counter()
    direct: Counter[str] = Counter()
    defined: Counter[str] = Counter()
    rebound: set[str] = set()
    stars: list[str] = []
    for node in descend(tree):
        if isinstance(node, (cst.Import, cst.ImportFrom, cst.Assign)):
            names.update(imported_names(node))
            if isinstance(node, cst.ImportFrom) and isinstance(node.names, cst.ImportStar):
                stars.append(module_of(node))
        elif isinstance(node, cst.Name):
            mentions[node.value] += 1
        elif isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            direct[node.name.value] += 1
            defined[node.name.value] += isinstance(node, cst.FunctionDef)
        elif isinstance(node, cst.Global):
            rebound.update(item.name.value for item in node.names)
        elif isinstance(node, cst.Call):
            function = node.func
            called = function.attr if isinstance(function, cst.Attribute) else function
            if isinstance(called, cst.Name):
                direct[called.value] += 1
        elif isinstance(node, cst.Subscript) and isinstance(node.value, cst.Dict):
            direct.update(e.value.value for e in node.value.elements if isinstance(e.value, cst.Name))
    index = _empty_index(names, stars, rebound, mentions, direct, defined)
    index.sets_default = sets_default(tree, mentions)
    return index


def _empty_index(
    names: dict[str, str],
    stars: list[str],
    rebound: set[str],
    mentions: Counter[str],
    direct: Counter[str],
    defined: Counter[str],
) -> FileIndex:
    """An index with names and without definitions."""
    indirect = frozenset(name for name, count in mentions.items() if count > direct[name])
    index = FileIndex(ImportTable(names), {}, {}, frozenset(mentions), indirect, frozenset(rebound), tuple(stars))
    index.defined = defined
    index.once = frozenset(name for name, count in mentions.items() if count == 1)
    return index


def _bound_names(tree: cst.Module) -> Iterator[str]:
    """Names in the targets of assignments, ``for`` and ``with`` outside of definitions."""
    for statement in tree.body:
        if isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
            continue
        for node in inner_nodes(statement, into_definitions=False):
            kind = type(node)
            if kind in _BINDING:
                yield from (child.value for child in descend(node.target) if type(child) is cst.Name)  # type: ignore[attr-defined]
            elif kind is cst.AsName:
                yield from (child.value for child in descend(node.name) if type(child) is cst.Name)  # type: ignore[attr-defined]


_BINDING = frozenset({cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.NamedExpr, cst.For})


Literal = cst.SimpleString | cst.Integer | cst.Float


def _assigned_literals(tree: cst.Module) -> Iterator[tuple[str, Literal]]:
    for statement in body_of(tree):
        if type(statement) is cst.Assign and isinstance(statement.value, (cst.SimpleString, cst.Integer, cst.Float)):
            target = statement.targets[0].target
            if type(target) is cst.Name:
                yield target.value, statement.value


class _Indexing:
    """One pass over the blocks of a tree, in source order."""

    def __init__(self, index: FileIndex, outlined: list[Definition], read: Reader | None) -> None:
        self._index = index
        self._outlined = iter(outlined)
        self._count = 0
        self._read = read
        self.stood_in_for: set[str] = set()
        """Names that a ``try`` of the module imports, and its handler defines where that fails."""

    def block(
        self,
        block: cst.CSTNode,
        prefix: str,
        owner: ClassInfo | None,
        classes: dict[str, ClassInfo],
        inside: FunctionInfo | None = None,
    ) -> None:
        """Index the definitions of a block and of its compound statements; ``inside`` is the enclosing function."""
        visible = dict(classes)
        stack = list(reversed(_statements(block)))
        while stack:
            statement = stack.pop()
            if type(statement) is cst.FunctionDef:
                info = FunctionInfo(prefix + statement.name.value, statement, owner, decorator_names(statement))
                info.linkage = inside.linkage if inside is not None else None
                self._index.functions[id(statement)] = info
                if owner is not None:
                    _add_method(owner, info)
                if inside is None:
                    self._count += 1
                    info.number = self._count
                    info.outlined = next(self._outlined, None)
                else:
                    info.number = inside.number
                if info.outlined is not None and _is_number(statement, info.outlined):
                    info._parse = partial(self._parsed, info, visible)
                else:
                    self.block(statement.body, info.qualname + ".", None, visible, info)
            elif type(statement) is cst.ClassDef:
                found = self._class(statement, prefix, visible, inside)
                if not prefix and statement.name.value in self.stood_in_for:
                    continue
                visible[statement.name.value] = found
                classes.setdefault(statement.name.value, found)
            elif type(statement) in _COMPOUND:
                if type(statement) is cst.Try and not prefix:
                    self.stood_in_for |= _stood_in_for(statement)
                stack.extend(reversed(_inner_statements(statement)))

    def _class(
        self, node: cst.ClassDef, prefix: str, classes: dict[str, ClassInfo], inside: FunctionInfo | None
    ) -> ClassInfo:
        local = [
            dotted(base.value) if not isinstance(base.value, cst.Subscript) else dotted(base.value.value)
            for base in node.bases
        ]
        bases = tuple(classes.get(name) or self._index.qualified(name) for name in local if name)
        info = ClassInfo(prefix + node.name.value, node, bases, {}, inside.linkage if inside is not None else None)
        self._index.classes[id(node)] = info
        self.block(node.body, info.qualname + ".", info, classes, inside)
        return info

    def _parsed(self, info: FunctionInfo, visible: dict[str, ClassInfo]) -> FunctionNode:
        """The whole definition; its nested definitions are added to the index."""
        node = None
        if info.outlined is not None and self._read is not None:
            node = self._read(info.outlined.number)
        if node is None or type(node) is cst.Lambda:
            return info.header
        self.block(node.body, info.qualname + ".", None, visible, info)
        return node


def _stood_in_for(statement: cst.Try) -> set[str]:
    """What the body imports and a handler of the failed import defines: the definition only stands in for it."""
    imported = {
        name
        for one in _statements(statement.body)
        if type(one) is cst.Import or type(one) is cst.ImportFrom
        for name, _ in imported_names(one)
    }
    defined = {
        one.name.value
        for handler in statement.handlers
        if type(handler.type) is cst.Name and handler.type.value in _FAILED_IMPORT
        for one in _statements(handler.body)
        if type(one) is cst.ClassDef or type(one) is cst.FunctionDef
    }
    return imported & defined


_FAILED_IMPORT = frozenset({"ImportError", "ModuleNotFoundError"})


def _is_number(node: cst.FunctionDef, outlined: Definition) -> bool:
    """Whether the body is the integer that replaces it in a skeleton."""
    match node.body.body:
        case [cst.SimpleStatementLine(body=[cst.Expr(value=cst.Integer(value=number))])]:
            return number == str(outlined.number)
    return False


def _add_method(owner: ClassInfo, info: FunctionInfo) -> None:
    """Add a method. A property's setter does not hide its getter: it goes by the name of its decorator."""
    accessor = next((d for d in info.decorators if d.endswith((".setter", ".deleter"))), None)
    if accessor is not None:
        owner.methods[accessor] = info
        return
    if "overload" in (d.rsplit(".", 1)[-1] for d in info.decorators):
        return
    owner.methods[info.name] = info


def _statements(block: cst.CSTNode) -> list[cst.CSTNode]:
    if isinstance(block, (cst.IndentedBlock, cst.Module, cst.SimpleStatementSuite)):
        return list(body_of(block))
    return []


_COMPOUND = frozenset({cst.If, cst.For, cst.While, cst.Try, cst.TryStar, cst.With, cst.Match})
"""Compound statements other than definitions.

Types are compared by identity because ``isinstance`` is slow for LibCST's abstract base classes and this runs for every
statement.
"""


def _inner_statements(statement: cst.CSTNode) -> list[cst.CSTNode]:
    found: list[cst.CSTNode] = []
    for child in semantic_children(statement):
        if type(child) is cst.IndentedBlock or type(child) is cst.SimpleStatementSuite:
            found += _statements(child)
        elif type(child) is cst.If:
            found.append(child)
        elif type(child) in _BLOCKS:
            found += _statements(child.body)  # type: ignore[attr-defined]
    return found


_BLOCKS = frozenset({cst.Else, cst.Finally, cst.ExceptHandler, cst.ExceptStarHandler, cst.MatchCase})
