"""What :mod:`ast` says of a file by names alone, in one pass: imports, mentions, and each outermost definition.

LibCST costs nine times as much as :mod:`ast` and parses only the definitions whose content matters; all that the others
contribute is read here. A *definition* is a function of the module level or of a class body, with everything
inside of it.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import field

from devlint.records import dataclass
from devlint.source.imports_by_call import CALLS, bound, modules_by_call

REGISTERING = frozenset(
    {
        "ModuleList", "ModuleDict", "Sequential", "ParameterList", "ParameterDict", "add_module", "register_module",
        "register_parameter", "register_buffer", "setattr", "__setattr__",
    }
)  # fmt: skip
"""Calls that make a module know what they are given."""

HOOK = "_hook"
"""How the names of methods end that register one to be called later, by the module or for a gradient."""

PLACING = frozenset({"to", "cuda"})

DEFAULTING = frozenset({"set_default_device", "set_default_tensor_type"})
"""What sets where tensors are made."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class OwnNames:
    """What a method does with the attributes of its first parameter, ``self``, by its source alone."""

    mentioned: frozenset[str] = frozenset()
    stored: frozenset[str] = frozenset()
    registered: frozenset[str] = frozenset()
    """Those that stand in an argument of a registering call, or are looped over around one."""
    kept: frozenset[str] = frozenset()
    """Those that an object keeps as they are, or that a hook is registered of: a method of these is called later."""


@dataclass(frozen=True, slots=True)
class Definition:
    """One function or method that stands in no other. Lines are 1-based."""

    number: int
    """Its place among the file's definitions."""
    first: int
    """The line of its first decorator, or of ``def``."""
    body: int
    """The line of its first statement."""
    column: int
    """Where that begins on its line, in UTF-8 bytes from 0."""
    last: int
    own: OwnNames
    returns: bool
    """It returns a value somewhere."""
    yields: bool
    places: bool
    """It calls ``.to`` or ``.cuda``."""
    private: frozenset[str] = frozenset()
    """The names with one underscore before them by which it calls something, ``_pad(x)`` or ``self._pad(x)``."""


@dataclass(frozen=True, slots=True)
class Import:
    """One import: ``module`` is None in ``import name``, relative ones keep their dots; ``name`` may be ``*``."""

    module: str | None
    name: str
    alias: str | None


@dataclass(slots=True)
class Outline:
    """One file."""

    imports: list[Import] = field(default_factory=list)
    """In the order of the source, wherever they stand."""
    mentions: Counter[str] = field(default_factory=Counter)
    """How often each name stands in the file, be it a variable, an attribute, a keyword or a part of an import."""
    direct: Counter[str] = field(default_factory=Counter)
    """How often it stands there as the name of a definition, as what is called, or in a table that is asked for one."""
    defined: Counter[str] = field(default_factory=Counter)
    """How many functions have the name."""
    rebound: set[str] = field(default_factory=set)
    """Names that some definition declares ``global``."""
    definitions: list[Definition] = field(default_factory=list)
    sets_default: bool = False
    """Something may leave the default device other than it found it."""


def outline_of(tree: ast.Module) -> Outline:
    """Reads a whole file."""
    outline = Outline()
    gathered = _Gathered()
    stack: list[ast.AST] = list(reversed(tree.body))
    while stack:
        node = stack.pop()
        if isinstance(node, Function):
            found = _Reading(outline, gathered)
            found.read(node)
            if found.defaulting and _restores(found.defaulting):
                gathered.undone += len(found.defaulting)
            outline.definitions.append(_definition(node, len(outline.definitions), found))
            continue
        kind = type(node)
        if kind is ast.ClassDef or kind in _BLOCKS:
            # What is no statement of its blocks is read here; its statements come in their order.
            reading = _Reading(outline, gathered)
            reading.note(node)
            inner: list[ast.AST] = []
            for name in _children(kind):
                value = getattr(node, name)
                if isinstance(value, list):
                    for child in value:
                        if isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
                            inner.append(child)
                        else:
                            reading.read(child)
                elif value is not None:
                    reading.read(value)
            stack.extend(reversed(inner))
        else:
            _Reading(outline, gathered).read(node)
    # The last of those that import one name counts, as when the file is read whole.
    in_order = sorted(gathered.imports, key=lambda node: (node.lineno, node.col_offset))
    outline.imports = [one for node in in_order for one in _imports(node)]
    outline.mentions.update(gathered.mentions)
    imported = sum(one.name in DEFAULTING for one in outline.imports)
    outline.sets_default = sum(map(outline.mentions.__getitem__, DEFAULTING)) > gathered.undone + imported
    outline.direct.update(gathered.direct)
    return outline


_BLOCKS = frozenset(
    {
        ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.ExceptHandler, ast.Match,
        ast.match_case, *([ast.TryStar] if hasattr(ast, "TryStar") else []),
    }
)  # fmt: skip


@dataclass(slots=True)
class _Gathered:
    """What has been met in a file so far, each as often as it was; it is counted at the end."""

    imports: list[ast.Import | ast.ImportFrom | ast.Assign] = field(default_factory=list)
    mentions: list[str] = field(default_factory=list)
    direct: list[str] = field(default_factory=list)
    undone: int = 0
    """Calls that set the default device, in functions of which the last one sets it back."""


BINDERS = frozenset({"exec", "globals", "vars", "builtins", "__builtins__", "__getattr__", "install"})
"""Names of what binds other names: a file that mentions one of them may hold any."""


def is_private(name: str | None) -> bool:
    """Whether the last part of a dotted name begins with one underscore."""
    last = (name or "").rsplit(".", 1)[-1]
    return last.startswith("_") and not last.startswith("__")


def _restores(calls: list[ast.Call]) -> bool:
    """Whether the last of several settings sets the default device back."""
    last = max(calls, key=lambda call: (call.lineno, call.col_offset))
    given = [*last.args, *(keyword.value for keyword in last.keywords)]
    return len(calls) > 1 and len(given) == 1 and names_the_cpu(ast.unparse(given[0]))


def names_the_cpu(text: str) -> bool:
    """``"cpu"``, ``torch.device("cpu")``, ``torch.FloatTensor``: what a default device is set back to."""
    return "cpu" in text or re.fullmatch(r"['\"]?torch\.\w+Tensor['\"]?", text) is not None


class _Reading:
    """One walk over a part of the file."""

    def __init__(self, outline: Outline, gathered: _Gathered) -> None:
        self._outline = outline
        self._gathered = gathered
        self.attributes: list[ast.Attribute] = []
        self.stores: list[ast.expr] = []
        self.registering: list[ast.Call] = []
        self.kept: list[ast.expr | None] = []
        self.loops: list[ast.For | ast.AsyncFor] = []
        self.private: set[str] = set()
        """Names with one underscore before them that are called."""
        self.signs = False
        """Something yields, or has a method that may move it."""

        self.defaulting: list[ast.Call] = []
        """Calls that set the default device."""

    def read(self, root: ast.AST) -> None:
        """A node and all that is in it."""
        mentions, direct = self._gathered.mentions, self._gathered.direct
        stack = [root]
        pop, push = stack.pop, stack.append
        while stack:
            node = pop()
            kind = type(node)
            if kind is ast.Name:
                mentions.append(node.id)  # type: ignore[attr-defined]
                continue
            if kind is ast.Attribute:
                mentions.append(node.attr)  # type: ignore[attr-defined]
                self.signs = self.signs or node.attr in PLACING  # type: ignore[attr-defined]
                self.attributes.append(node)  # type: ignore[arg-type]
                push(node.value)  # type: ignore[attr-defined]
                continue
            if kind is ast.Constant:
                continue
            if kind is ast.Call:
                name = _name_of(node)  # type: ignore[arg-type]
                if name is not None:
                    direct.append(name)
                    if name[0] == "_" and is_private(name):
                        self.private.add(name)
                    if name in REGISTERING:
                        self.registering.append(node)  # type: ignore[arg-type]
                    elif name.endswith(HOOK):
                        self.kept += node.args  # type: ignore[attr-defined]
                    elif name in DEFAULTING:
                        self.defaulting.append(node)  # type: ignore[arg-type]
            elif kind is ast.Subscript:
                if type(node.value) is ast.Dict:  # type: ignore[attr-defined]
                    direct += _names_of(node.value)  # type: ignore[attr-defined]
            elif kind in _NOTED:
                self.note(node)
            elif kind is ast.Yield or kind is ast.YieldFrom:
                self.signs = True
            for name in _children(kind):
                value = getattr(node, name)
                if type(value) is list:
                    stack.extend(value)
                elif value is not None:
                    push(value)

    def note(self, node: ast.AST) -> None:
        """What a node says beside its children."""
        outline, gathered = self._outline, self._gathered
        names: list[str] = []
        match node:
            case ast.keyword() | ast.arg():  # the first as the most frequent
                names += [node.arg] if node.arg else []
            case ast.Assign():
                self.stores += node.targets
                if any(type(target) in _PLACES for target in node.targets):
                    self.kept.append(node.value)
                if type(node.value) is ast.Call and _name_of(node.value) in CALLS:
                    gathered.imports.append(node)
            case ast.Import() | ast.ImportFrom():
                gathered.imports.append(node)
                for alias in node.names:
                    names += [] if alias.name == "*" else alias.name.split(".")
                    names += [alias.asname] if alias.asname else []
                if isinstance(node, ast.ImportFrom) and node.module:
                    names += node.module.split(".")
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names.append(node.name)
                gathered.direct.append(node.name)
                if not isinstance(node, ast.ClassDef):
                    outline.defined[node.name] += 1
            case ast.Global():
                names += node.names
                outline.rebound.update(node.names)
            case ast.Nonlocal():
                names += node.names
            case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar():
                names += [node.name] if node.name else []
            case ast.MatchMapping():
                names += [node.rest] if node.rest else []
            case ast.MatchClass():
                names += node.kwd_attrs
            case ast.AugAssign() | ast.AnnAssign():
                self.stores.append(node.target)
                if type(node.target) in _PLACES:
                    self.kept.append(node.value)
            case ast.For() | ast.AsyncFor():
                self.loops.append(node)
        gathered.mentions += names


_PLACES = frozenset({ast.Attribute, ast.Subscript})
"""Where an object keeps something."""


def _name_of(call: ast.Call) -> str | None:
    """The last name of what is called."""
    return getattr(call.func, "attr", None) or getattr(call.func, "id", None)


def _names_of(table: ast.Dict) -> list[str]:
    """What a table gives that is asked where it is written, ``{"a": f, "b": g}[key]``: the file calls what it gets."""
    return [value.id for value in table.values if isinstance(value, ast.Name)]


_NOTED = frozenset(
    {
        ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.keyword, ast.arg,
        ast.Global, ast.Nonlocal, ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping, ast.MatchClass,
        ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.AsyncFor,
    }
)  # fmt: skip

_SCALAR = frozenset(
    """
    id attr arg name asname module level ctx op ops kind type_comment type_ignores names kwd_attrs rest simple is_async
    conversion n s
    """.split()
)
"""Fields that hold no expression or statement."""

_fields: dict[type, tuple[str, ...]] = {ast.Constant: ()}
"""By type; beside nodes, keys of dicts may be None and singletons are their value."""


def _children(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a node type that may hold nodes."""
    found = _fields.get(kind)
    if found is None:
        found = _fields[kind] = tuple(n for n in getattr(kind, "_fields", ()) if n not in _SCALAR)
    return found


def first_line(node: Function) -> int:
    """Where a definition begins, its decorators included."""
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _definition(node: Function, number: int, reading: _Reading) -> Definition:
    statement = node.body[0]
    body = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", ()))])
    last = node.end_lineno or body
    yields, places = _signs(node) if reading.signs else (False, False)
    own, returns = _own(node, reading), _returns(node)
    column, private = statement.col_offset, frozenset(reading.private)
    return Definition(number, first_line(node), body, column, last, own, returns, yields, places, private)


def _returns(node: Function) -> bool:
    """Whether a statement of the body returns a value; not of definitions inside of it."""
    stack: list[ast.AST] = list(node.body)
    while stack:
        statement = stack.pop()
        kind = type(statement)
        if kind is ast.Return:
            if statement.value is not None:  # type: ignore[attr-defined]
                return True
        elif kind in _BLOCKS:
            for name in _BLOCK_FIELDS:
                stack += getattr(statement, name, ())
    return False


_BLOCK_FIELDS = ("body", "orelse", "handlers", "finalbody", "cases")
"""Where compound statements have theirs."""


def _signs(node: Function) -> tuple[bool, bool]:
    """Whether the body yields, and whether it calls ``.to`` or ``.cuda``; not in definitions inside of it."""
    yields = places = False
    stack: list[ast.AST] = list(node.body)
    while stack:
        child = stack.pop()
        kind = type(child)
        if kind in _DEFINITIONS:
            continue
        if kind is ast.Yield or kind is ast.YieldFrom:
            yields = True
        elif kind is ast.Attribute and child.attr in PLACING:  # type: ignore[attr-defined]
            places = True
        if yields and places:
            break
        for name in _children(kind):
            value = getattr(child, name)
            if type(value) is list:
                stack.extend(value)
            elif value is not None:
                stack.append(value)
    return yields, places


_DEFINITIONS = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda})


def _own(node: Function, reading: _Reading) -> OwnNames:
    if not node.args.args:
        return OwnNames()
    me = node.args.args[0].arg
    mentioned = (a.attr for a in reading.attributes if type(a.value) is ast.Name and a.value.id == me)
    stored, registered = frozenset(_stored(reading, me)), frozenset(_registered(reading))
    return OwnNames(frozenset(mentioned), stored, registered, frozenset(_kept(reading.kept, me)))


def _kept(values: Iterable[ast.expr | None], me: str) -> Iterator[str]:
    waiting = [*values]
    while waiting:
        match waiting.pop():
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name == me:
                yield attribute
            case ast.IfExp(body=body, orelse=other):
                waiting += [body, other]
            case ast.Dict(values=values):
                waiting += values
            case ast.List(elts=items) | ast.Tuple(elts=items):
                waiting += items
            case ast.Subscript(value=table):
                waiting.append(table)
            case ast.Call(args=arguments) as call if _name_of(call) == "partial":
                waiting += arguments


def _stored(reading: _Reading, me: str) -> Iterator[str]:
    for target in reading.stores:
        for one in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
            value = one.value if isinstance(one, ast.Starred) else one
            if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name) and value.value.id == me:
                yield value.attr


def _registered(reading: _Reading) -> Iterator[str]:
    for call in reading.registering:
        for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
            yield from _attributes_of_self(argument)
    inside = {id(call) for call in reading.registering}
    for loop in reading.loops if inside else ():
        if any(id(child) in inside for statement in loop.body for child in ast.walk(statement)):
            yield from _attributes_of_self(loop.iter)


def _attributes_of_self(node: ast.expr) -> Iterator[str]:
    for child in ast.walk(node):
        if isinstance(child, ast.Attribute) and isinstance(child.value, ast.Name) and child.value.id == "self":
            yield child.attr


def _imports(node: ast.Import | ast.ImportFrom | ast.Assign) -> Iterator[Import]:
    if isinstance(node, ast.Assign):
        yield from (Import(None, module, local) for local, module in _by_call(node))
    elif isinstance(node, ast.Import):
        for alias in node.names:
            yield Import(None, alias.name, alias.asname)
    else:
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            yield Import(module, alias.name, alias.asname)


def _by_call(node: ast.Assign) -> Iterator[tuple[str, str]]:
    if isinstance(node.value, ast.Call) and len(node.targets) == 1:
        target = node.targets[0]
        parts = target.elts if isinstance(target, ast.Tuple) else [target]
        argument = node.value.args[0] if node.value.args else None
        modules = modules_by_call(_name_of(node.value) or "", getattr(argument, "value", None))
        yield from bound((getattr(part, "id", None) for part in parts), modules)
