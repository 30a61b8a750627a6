"""Functions and classes of a file as its index holds them: names, bases, methods, and what is asked of them later."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeVar

import libcst as cst

from devlint.placement.declarations.class_body import names_blocks
from devlint.placement.declarations.evidence_grades import Uses
from devlint.placement.declarations.imports import ImportTable
from devlint.placement.declarations.known_classes import ClassKind, kind_of_base
from devlint.placement.declarations.method_resolution import c3_merge
from devlint.placement.declarations.self_attributes import own_names
from devlint.placement.syntax.nodes import FunctionNode, descend
from devlint.semantics import library_models
from devlint.source.dependency_parts import IMPORTS, body_part
from devlint.source.outline import PLACING, Definition, OwnNames

Found = TypeVar("Found")


class Linkage(Protocol):
    """How the declarations of one file reach those of other files. A file that is read by itself has none."""

    @property
    def imports(self) -> ImportTable: ...

    def depends_on(self, part: str) -> None:
        """Note that a part of the file was read (:mod:`devlint.source.dependency_parts`)."""

    def query(self, key: Hashable, find: Callable[[], Found], meanwhile: Found) -> Found:
        """The memoised answer of ``find``; ``meanwhile`` where the same query is being answered."""

    def imported_class(self, qualified: str) -> ClassInfo | str:
        """The project's class of that name; the name itself where the project has none."""


MODULE_KINDS = frozenset({ClassKind.MODULE, ClassKind.LIGHTNING})


@dataclass(eq=False, slots=True)
class FunctionInfo:
    """One function or method. ``closure`` is filled when the definition is reached."""

    qualname: str
    header: FunctionNode
    """The definition as the file's skeleton has it: its signature for certain."""
    owner: ClassInfo | None = None
    decorators: tuple[str, ...] = ()
    closure: dict[str, Any] = field(default_factory=dict)
    """Abstract values of the names around a nested definition. A declaration only carries them."""
    linkage: Linkage | None = None
    """That of the file it stands in; None for a lambda."""

    number: int = 0
    """That of the outermost definition it stands in or is, in the order of the source."""
    outlined: Definition | None = None
    """What :mod:`ast` says of it, if it stands in no other."""
    _parse: Callable[[], FunctionNode] | None = None
    """Reads the whole of it, where that has not been done."""
    _node: FunctionNode | None = None
    _own: OwnNames | None = None
    _signs: frozenset[str] | None = None
    uses: Uses | None = None
    """What its body shows of the names in it (:func:`evidence_uses.uses_of`), once that has been asked."""

    @property
    def node(self) -> FunctionNode:
        """The whole definition, parsed on the first question."""
        if self.linkage is not None:
            self.linkage.depends_on(body_part(self.qualname))
        if self._parse is not None:
            parse, self._parse = self._parse, None
            self._node = parse()
        return self._node if self._node is not None else self.header

    def forget(self) -> None:
        """Lets go of what leads back to it."""
        self.owner = self._parse = None
        self.closure = {}

    @property
    def key(self) -> int:
        """Tells it from every other definition, whether its body has been parsed or not."""
        return id(self.header)

    @property
    def own(self) -> OwnNames:
        """What the body does with the attributes of ``self``."""
        if self._own is None:
            self._own = self.outlined.own if self.outlined is not None else own_names(self.node)
        return self._own

    @property
    def stores(self) -> frozenset[str]:
        """Attributes of ``self`` that the body assigns; of methods only."""
        return self.own.stored if self.owner is not None and not self.is_static else frozenset()

    @property
    def is_generator(self) -> bool:
        return self.outlined.yields if self.outlined is not None else "yields" in self._body_signs()

    @property
    def places_itself(self) -> bool:
        """The body calls ``.to`` or ``.cuda``: as a constructor it may leave its parameters anywhere."""
        return self.outlined.places if self.outlined is not None else "places" in self._body_signs()

    def _body_signs(self) -> frozenset[str]:
        # Read when asked for: of the files that are only asked about, most definitions never are.
        if self._signs is None:
            found = set()
            imported: set[int] = set()
            for child in descend(self.node.body, into_definitions=False) if self.is_definition else ():
                if isinstance(child, cst.Yield):
                    found.add("yields")
                elif isinstance(child, (cst.Import, cst.ImportFrom)):
                    imported.update(id(part) for part in descend(child))
                elif isinstance(child, cst.Attribute) and child.attr.value in PLACING:
                    found.update(() if id(child) in imported else ("places",))
            self._signs = frozenset(found)
        return self._signs

    @property
    def is_definition(self) -> bool:
        """Not a lambda."""
        return isinstance(self.header, cst.FunctionDef)

    @property
    def name(self) -> str:
        return self.qualname.rsplit(".", 1)[-1]

    @property
    def is_static(self) -> bool:
        return "staticmethod" in self.decorators

    @property
    def is_classmethod(self) -> bool:
        return "classmethod" in self.decorators

    @property
    def is_property(self) -> bool:
        return any(d in ("property", "cached_property", "functools.cached_property") for d in self.decorators)

    @property
    def keeps_signature(self) -> bool:
        """No decorator that could change what a call returns."""
        return all(d.rsplit(".", 1)[-1] in _TRANSPARENT for d in self.decorators)


_TRANSPARENT = frozenset(
    {
        "staticmethod", "classmethod", "property", "cached_property", "no_grad", "inference_mode", "enable_grad",
        "abstractmethod", "override", "overload", "jit", "script", "unused", "ignore", "export", "compile", "wraps",
        "lru_cache", "cache", "torch_compile_disable", "disable", "deprecate", "deprecated", "autocast", "custom_fwd",
        "rank_zero_only", "setter",
    }
)  # fmt: skip


@dataclass(eq=False, slots=True)
class ClassInfo:
    """One class. A base is a class of this file, or the qualified name of one that is not."""

    qualname: str
    node: cst.ClassDef
    bases: tuple[str | ClassInfo, ...]
    methods: dict[str, FunctionInfo]
    linkage: Linkage | None = None
    """That of the file it stands in."""
    _builders: tuple[FunctionInfo, ...] | None = None

    @property
    def splits(self) -> bool:
        """The class says that it may be spread over devices: it names the submodules that must stay whole."""
        return next((names for info in self.order if (names := names_blocks(info.node)) is not None), False)

    @property
    def builders(self) -> tuple[FunctionInfo, ...]:
        """Methods that ``__init__`` calls on ``self`` and nothing else here does: parts of the constructor."""
        if self._builders is None:
            self._builders = _builders(self)
        return self._builders

    @property
    def assigned_outside_init(self) -> frozenset[str]:
        """Attributes that a method stores which is no part of the constructor."""
        outside = [m.stores for m in self.methods.values() if m.name != "__init__" and m not in self.builders]
        return frozenset().union(*outside)

    @property
    def resolved_bases(self) -> tuple[str | ClassInfo, ...]:
        """The bases, with the classes that other files of the project define in place of their names."""
        # A base that leads back here while it is looked up stays a name.
        return self._asked("bases", _resolved, self.bases)

    @property
    def parents(self) -> tuple[ClassInfo, ...]:
        """The bases whose definition is in the project."""
        return tuple(base for base in self.resolved_bases if isinstance(base, ClassInfo))

    @property
    def kind(self) -> ClassKind:
        """What it is by its bases: what the tables know of them by name, else what the project's files say."""
        return self._asked("kind", _kind, ClassKind.UNKNOWN)

    @property
    def order(self) -> tuple[ClassInfo, ...]:
        """The class and its ancestors in the order in which methods are looked up (C3, as far as the project shows)."""
        return self._asked("order", _order, (self,))

    def _asked(self, what: str, find: Callable[[ClassInfo], Found], meanwhile: Found) -> Found:
        """What the files around have a say in; the memory of its analysis keeps it."""
        if self.linkage is None:
            return find(self)
        return self.linkage.query((what, self), partial(find, self), meanwhile)

    @property
    def name(self) -> str:
        return self.qualname.rsplit(".", 1)[-1]

    @property
    def is_module(self) -> bool:
        return self.kind in MODULE_KINDS

    def method(self, name: str) -> FunctionInfo | None:
        """The method by the order of the bases, as far as the project shows them."""
        return next((c.methods[name] for c in self.order if name in c.methods), None)

    def defines(self, *names: str) -> bool:
        return any(self.method(name) is not None for name in names)

    @property
    def complete(self) -> bool:
        """Every base is either in the project or a library's whose attributes the tables know."""
        return self.kind is not ClassKind.UNKNOWN and all(parent.complete for parent in self.parents)


def _resolved(info: ClassInfo) -> tuple[str | ClassInfo, ...]:
    linkage = info.linkage
    if linkage is None:
        return info.bases
    return tuple(linkage.imported_class(base) if isinstance(base, str) else base for base in info.bases)


def _order(info: ClassInfo) -> tuple[ClassInfo, ...]:
    return (info, *c3_merge([list(parent.order) for parent in info.parents], list(info.parents)))


def _kind(info: ClassInfo) -> ClassKind:
    """The first telling kind among the bases. A name that the tables know is taken at its word: no file is opened."""
    named = [kind_of_base(base) for base in info.bases if isinstance(base, str)]
    found = [ClassKind(kind) for kind in named if kind is not None]
    if None in named or not _telling(found):
        found += [parent.kind for parent in info.parents]
    telling = _telling(found)
    if telling is not None:
        return telling
    if any(_prepares_images(parent) for parent in info.parents):
        return ClassKind.HOST
    unknown = [base for base in info.resolved_bases if isinstance(base, str) and kind_of_base(base) is None]
    if not unknown and ClassKind.UNKNOWN not in found:
        return ClassKind.PLAIN
    if "forward" in info.methods and not info.methods["forward"].is_static:
        # An unknown base with a forward of its own: nothing but a Module has one.
        return ClassKind.MODULE
    return ClassKind.UNKNOWN


def _prepares_images(parent: ClassInfo) -> bool:
    """The project's own base of transforms, beside libraries that know images on the host only (not: graphs)."""
    if not parent.name.endswith("Transform") or parent.linkage is None or parent.is_module:
        return False
    parent.linkage.depends_on(IMPORTS)
    return any(library_models.images_on_host(name) for name in parent.linkage.imports.values())


def _telling(kinds: list[ClassKind]) -> ClassKind | None:
    silent = (ClassKind.PLAIN, ClassKind.UNKNOWN)
    return next((kind for kind in ClassKind if kind in kinds and kind not in silent), None)


def _builders(info: ClassInfo) -> tuple[FunctionInfo, ...]:
    """Methods that are parts of the constructor: ``__init__`` calls them on ``self``, and nothing else here does."""
    init = info.methods.get("__init__")
    if init is None:
        return ()
    elsewhere = {name for m in info.methods.values() if m is not init for name in m.own.mentioned}
    called = init.own.mentioned
    return tuple(
        method
        for method in info.methods.values()
        if method.stores
        and method.name in called
        and method.name not in elsewhere
        and not method.decorators
        and method.stores.isdisjoint(init.stores)
        and method.name not in ("forward", "to", "cuda")
    )
