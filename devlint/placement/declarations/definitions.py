"""Declared functions and classes, as the index of a file holds them: names, bases, methods, lazily read facts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeVar

import libcst as cst

from devlint.placement.declarations.class_body import annotated_fields, names_blocks, set_values
from devlint.placement.declarations.construction import parts_of_constructor
from devlint.placement.declarations.evidence_grades import Uses
from devlint.placement.declarations.imports import ImportTable
from devlint.placement.declarations.known_classes import ClassKind, kind_of_base, kind_of_own_base, listed_kind
from devlint.placement.declarations.method_resolution import c3_merge
from devlint.placement.declarations.names_read import bound_names, loop_variables, reads_of_names
from devlint.placement.declarations.self_attributes import calls_of_attributes, fillings, own_names, stored_expressions
from devlint.placement.syntax.nodes import FunctionNode, body_of, descend, names_in
from devlint.semantics import library_models
from devlint.source.dependency_parts import IMPORTS, attribute_part, body_part
from devlint.source.outline import PLACING, Definition, OwnNames

Found = TypeVar("Found")


class Linkage(Protocol):
    """Access from the declarations of one file to those of other files.

    A file that is analysed alone has no linkage.
    """

    @property
    def imports(self) -> ImportTable: ...

    def depends_on(self, part: str) -> None:
        """Record a dependency on a part of the file (:mod:`devlint.source.dependency_parts`)."""

    def query(self, key: Hashable, find: Callable[[], Found], meanwhile: Found) -> Found:
        """The memoised result of ``find``; ``meanwhile`` if the same query is in progress."""

    def imported(self, qualified: str) -> Any:
        """The value of an imported name: a value of the project, or a reference to a name outside it."""

    def imported_class(self, qualified: str) -> ClassInfo | str:
        """The project's class of that name; the name itself if the project has no such class."""


_REGISTERING = frozenset({"register_buffer", "register_parameter", "add_module", "register_module"})
MODULE_KINDS = frozenset({ClassKind.MODULE, ClassKind.LIGHTNING})


@dataclass(eq=False, slots=True)
class FunctionInfo:
    """A function or method. ``closure`` and ``parted`` are filled when the interpreter reaches the definition."""

    qualname: str
    header: FunctionNode
    """The definition as the file's skeleton holds it. Its signature is complete; its body may be missing."""
    owner: ClassInfo | None = None
    decorators: tuple[str, ...] = ()
    closure: dict[str, Any] = field(default_factory=dict)
    parted: dict[str, Any] = field(default_factory=dict)
    """Of batches that the closure has items of, and some of whose items were moved: where, by the batch's key."""
    """For a nested definition: abstract values of the names of the enclosing definitions."""
    linkage: Linkage | None = None
    """The linkage of the file that declares it; None for a lambda."""

    number: int = 0
    """The number of its outermost enclosing definition, or its own if there is none, in source order."""
    outlined: Definition | None = None
    """Facts read from :mod:`ast`; None for a nested definition."""
    _parse: Callable[[], FunctionNode] | None = None
    """Parses the whole definition; None once that is done."""
    _node: FunctionNode | None = None
    _own: OwnNames | None = None
    _signs: frozenset[str] | None = None
    _gives: bool | None = None
    _found: dict[Callable[[FunctionNode], Any], Any] | None = None
    """What was looked for in its body, by what looked for it."""
    uses: Uses | None = None
    """What its body shows of the names in it (:func:`evidence_uses.uses_of`), once that has been asked."""

    @property
    def node(self) -> FunctionNode:
        """The whole definition, parsed on first use."""
        self.depend_on_body()
        if self._parse is not None:
            parse, self._parse = self._parse, None
            self._node = parse()
        return self._node if self._node is not None else self.header

    def depend_on_body(self) -> None:
        """Record that the body was read: also where what it shows is kept, since each read may be another query's."""
        if self.linkage is not None:
            self.linkage.depends_on(body_part(self.qualname))

    def forget(self) -> None:
        """Drop references that form cycles."""
        self.owner = self._parse = self._found = None
        self.closure, self.parted = {}, {}

    @property
    def key(self) -> int:
        """The identity of the definition, the same before and after its body is parsed."""
        return id(self.header)

    @property
    def own(self) -> OwnNames:
        """How the body uses the attributes of ``self``."""
        if self._own is None:
            self._own = self.outlined.own if self.outlined is not None else own_names(self.node)
        return self._own

    @property
    def has_receiver(self) -> bool:
        """Whether the first parameter is the object, or the class, that it is called on."""
        return self.owner is not None and not self.is_static

    def mentions(self, *names: str) -> bool:
        """Whether the body mentions one of these attributes of ``self``: what does not today may do so tomorrow."""
        if self.linkage is not None:
            for name in names:
                self.linkage.depends_on(attribute_part(name))
        return not self.own.mentioned.isdisjoint(names)

    def may_call(self, name: str) -> bool:
        """Whether it is a ``def`` that calls something by this private name; True where only its body would tell."""
        return self.is_definition and (self.outlined is None or name in self.outlined.private)

    @property
    def stores(self) -> frozenset[str]:
        """Attributes of ``self`` that the body assigns; empty for functions and static methods."""
        return self.own.stored if self.has_receiver else frozenset()

    def find(self, look: Callable[[FunctionNode], Found]) -> Found:
        """What a function finds in the whole definition, which is read once for it."""
        node = self.node
        if self._found is None:
            self._found = {}
        if look not in self._found:
            self._found[look] = look(node)
        found: Found = self._found[look]
        return found

    @property
    def stored_expressions(self) -> Mapping[str, tuple[cst.BaseExpression | None, ...]]:
        """What the body assigns to each attribute of ``self`` (:func:`self_attributes.stored_expressions`)."""
        return self.find(stored_expressions)

    @property
    def names(self) -> frozenset[str]:
        """Every name that stands in the body: each call of the definition asks for some."""
        return self.find(_names)

    @property
    def reads(self) -> Mapping[str, int]:
        """How often the definition reads each name, its nested definitions included."""
        return self.find(reads_of_names)

    @property
    def loop_variables(self) -> frozenset[str]:
        """The names in the targets of its ``for`` statements."""
        return self.find(loop_variables)

    @property
    def bound_names(self) -> frozenset[str] | None:
        """The names that it binds, or may bind (:func:`names_read.bound_names`)."""
        return self.find(bound_names)

    @property
    def calls_of_attributes(self) -> Mapping[str, tuple[cst.Call, ...]]:
        """The calls of methods of ``self.name``, by that name (:func:`self_attributes.calls_of_attributes`)."""
        return self.find(calls_of_attributes)

    @property
    def fillings(self) -> Mapping[str, tuple[cst.Call | cst.Subscript, ...]]:
        """Where it puts items into what ``self`` keeps (:func:`self_attributes.fillings`)."""
        return self.find(fillings)

    @property
    def gives_none(self) -> bool:
        """Whether a call gives None whenever it ends, by its source: no ``return`` has a value, and nothing yields."""
        self.depend_on_body()
        if self._gives is None:
            self._gives = self._returns() or self.is_generator
        return not self._gives

    def _returns(self) -> bool:
        if self.outlined is not None:
            return self.outlined.returns
        node = self.node
        return isinstance(node, cst.Lambda) or any(
            type(child) is cst.Return and child.value is not None
            for child in descend(node.body, into_definitions=False)
        )

    @property
    def only_raises(self) -> bool:
        """Whether each call raises, by its source: it ends with ``raise``, and no ``return`` comes before."""
        return self.gives_none and self.find(_only_raises)

    @property
    def is_generator(self) -> bool:
        return self.outlined.yields if self.outlined is not None else "yields" in self._body_signs()

    @property
    def places_itself(self) -> bool:
        """The body calls ``.to`` or ``.cuda``: a constructor that does so may leave its parameters on any device."""
        return self.outlined.places if self.outlined is not None else "places" in self._body_signs()

    def _body_signs(self) -> frozenset[str]:
        # Read lazily: most definitions of other files are never read.
        if self._signs is None:
            found = set()
            imported: set[int] = set()
            for child in descend(self.node.body, into_definitions=False):
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
        """Whether it is a ``def``, not a lambda."""
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
        return any(d.rsplit(".", 1)[-1] in _PROPERTIES for d in self.decorators)

    @property
    def is_kernel(self) -> bool:
        """Whether a compiler reads it that is not PyTorch's: ``tl.zeros`` in it makes no tensor."""
        return any(d.split(".", 1)[0] in _KERNEL_LANGUAGES for d in self.decorators)

    @property
    def keeps_signature(self) -> bool:
        """Whether no decorator may change what a call returns."""
        return all(map(is_transparent, self.decorators))


def _only_raises(node: FunctionNode) -> bool:
    last = list(body_of(node.body))[-1:] if isinstance(node, cst.FunctionDef) else []
    if not last or type(last[0]) is not cst.Raise:
        return False
    return not any(type(child) is cst.Return for child in descend(node.body, into_definitions=False))


def _names(node: FunctionNode) -> frozenset[str]:
    return frozenset(names_in(node.body))


def is_transparent(decorator: str) -> bool:
    """Whether a decorator of this name leaves arguments and result as they are."""
    return decorator.rsplit(".", 1)[-1] in _TRANSPARENT


_PROPERTIES = frozenset({"property", "cached_property", "lazy_property", "abstractproperty", "reify"})
"""Last parts of decorators that make an attribute of a method; ``lazy_property``: torch.distributions.utils."""

_KERNEL_LANGUAGES = frozenset({"triton", "gluon", "tilelang", "numba"})
"""Modules whose decorators compile a function for an accelerator (``triton.jit``, ``numba.cuda.jit``)."""

_TRANSPARENT = frozenset(
    {
        "staticmethod", "classmethod", "property", "cached_property", "no_grad", "inference_mode", "enable_grad",
        "abstractmethod", "override", "overrides", "overload", "no_type_check",
        "jit", "script", "script_method", "script_if_tracing", "unused", "ignore", "export", "compile", "wraps",
        "lru_cache", "cache", "torch_compile_disable", "disable", "deprecate", "deprecated", "autocast", "custom_fwd",
        "custom_bwd", "once_differentiable", "rank_zero_only", "setter", "final", "register", "register_module",
        "validate_arguments", "validate_call", "typechecked", "beartype", "jaxtyped",
        "add_start_docstrings", "add_start_docstrings_to_model_forward", "add_end_docstrings", "auto_docstring",
        "replace_return_docstrings", "add_code_sample_docstrings",
    }
)  # fmt: skip
"""Last parts of decorators; those that check types are of pydantic (``validate_call``), typeguard, beartype and
jaxtyping, those that write documentation of transformers.utils.doc, ``overrides`` of the package of that name;
``register`` and ``register_module`` note a function in a registry and give it back."""


@dataclass(eq=False, slots=True)
class ClassInfo:
    """A class. A base is a class of this file, or the qualified name of a class defined elsewhere."""

    qualname: str
    node: cst.ClassDef
    bases: tuple[str | ClassInfo, ...]
    methods: dict[str, FunctionInfo]
    linkage: Linkage | None = None
    """The linkage of the file that declares it."""
    _members: frozenset[str] | None = None
    _set_in_body: Mapping[str, cst.BaseExpression] | None = None
    _annotated_fields: tuple[tuple[str, str], ...] | None = None

    @property
    def annotated_fields(self) -> tuple[tuple[str, str], ...]:
        """Names annotated in its body, with their annotations' source, in order."""
        if self._annotated_fields is None:
            self._annotated_fields = tuple(annotated_fields(self.node))
        return self._annotated_fields

    @property
    def set_in_body(self) -> Mapping[str, cst.BaseExpression]:
        """What its own body sets its attributes to; generated parsers set hundreds, which every read asks for."""
        if self._set_in_body is None:
            self._set_in_body = set_values(self.node)
        return self._set_in_body

    @property
    def members(self) -> frozenset[str]:
        """What its own body defines, sets, declares, assigns to ``self`` or registers."""
        if self._members is None:
            of_methods = (names for one in self.methods.values() for names in (one.stores, one.own.registered))
            fields = (name for name, _ in self.annotated_fields)
            self._members = frozenset(self.methods).union(self.set_in_body, fields, *of_methods)
        return self._members

    @property
    def splits(self) -> bool:
        """The class declares that it may be split over devices: it lists the submodules that must stay whole."""
        return next((names for info in self.order if (names := names_blocks(info.node)) is not None), False)

    @property
    def construction(self) -> tuple[FunctionInfo, ...]:
        """Methods that are parts of ``__init__``, its own or a base's: nothing but it and they call them."""
        return self.memoised("construction", _construction, ())

    @property
    def constructors(self) -> tuple[FunctionInfo, ...]:
        """Its own ``__init__`` and those of its bases, as far as the project defines them."""
        return tuple(one.methods["__init__"] for one in self.order if "__init__" in one.methods)

    @property
    def builders(self) -> tuple[FunctionInfo, ...]:
        """Parts of the constructor that store, or register, attributes which ``__init__`` itself does not."""
        return self.memoised("builders", _builders, ())

    @property
    def assigned_outside_init(self) -> Mapping[str, tuple[FunctionInfo, ...]]:
        """The attributes that methods outside of the constructor assign, and these methods in source order."""
        return self.memoised("assigned outside init", _assigned_outside_init, {})

    def storing_later(self, name: str) -> list[tuple[ClassInfo, FunctionInfo]]:
        """The methods that assign an attribute of its objects after their construction, and the classes they are of.

        A method that is overridden, by one that neither goes on to it nor names its class, does not run for them.
        """
        found = [(one, method) for one in self.order for method in one.assigned_outside_init.get(name, ())]
        return [pair for pair in found if pair[0] is self or self.runs(*pair)]

    def runs(self, one: ClassInfo, method: FunctionInfo) -> bool:
        """Whether a method of a base runs for its objects: it is not overridden, or the override goes on to it."""
        override = self.method(method.name)
        return override is None or override is method or not {"super", one.name}.isdisjoint(override.names)

    @property
    def resolved_bases(self) -> tuple[str | ClassInfo, ...]:
        """The bases, where names of classes that the project defines are replaced by those classes."""
        # A base whose resolution leads back to this class remains a name.
        return self.memoised("bases", _resolved, self.bases)

    @property
    def parents(self) -> tuple[ClassInfo, ...]:
        """The bases that the project defines."""
        return tuple(base for base in self.resolved_bases if isinstance(base, ClassInfo))

    @property
    def kind(self) -> ClassKind:
        """The kind of class by its bases: from the library tables by name, else from the project's files."""
        return self.memoised("kind", _kind, ClassKind.UNKNOWN)

    @property
    def order(self) -> tuple[ClassInfo, ...]:
        """The method resolution order (C3), as far as the project defines the bases."""
        return self.memoised("order", _order, (self,))

    def memoised(self, what: str, find: Callable[[ClassInfo], Found], meanwhile: Found) -> Found:
        """What is found out of a class once; it may depend on other files of the workspace."""
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
        """The method by method resolution order, as far as the project defines the bases."""
        return next((c.methods[name] for c in self.order if name in c.methods), None)

    def mentioning(self, name: str) -> Iterator[FunctionInfo]:
        """The methods that mention an attribute of ``self``, its own and those of its bases."""
        for one in self.order:
            if one.linkage is not None:
                one.linkage.depends_on(attribute_part(name))
            yield from (method for method in one.methods.values() if name in method.own.mentioned)

    def defines(self, *names: str) -> bool:
        return any(self.method(name) is not None for name in names)

    @property
    def complete(self) -> bool:
        """Whether every base is defined in the project or is a library class whose attributes the tables list."""
        return self.kind is not ClassKind.UNKNOWN and all(parent.complete for parent in self.parents)


def _resolved(info: ClassInfo) -> tuple[str | ClassInfo, ...]:
    linkage = info.linkage
    if linkage is None:
        return info.bases
    return tuple(linkage.imported_class(base) if isinstance(base, str) else base for base in info.bases)


def _order(info: ClassInfo) -> tuple[ClassInfo, ...]:
    return (info, *c3_merge([list(parent.order) for parent in info.parents], list(info.parents)))


def _builds(method: FunctionInfo) -> bool:
    """Whether it stores attributes, or registers some."""
    return bool(method.stores) or method.mentions(*_REGISTERING)


def _builders(info: ClassInfo) -> tuple[FunctionInfo, ...]:
    kept = info.methods["__init__"].stores if "__init__" in info.methods else frozenset()
    building = filter(_builds, info.construction)
    return tuple(m for m in building if not m.decorators and m.stores.isdisjoint(kept))


def _construction(info: ClassInfo) -> tuple[FunctionInfo, ...]:
    above = {method.name for parent in info.order[1:] for method in parent.construction}
    # What stores nothing may as well be kept: `self.step = self._step_forward`.
    building = frozenset(name for name in above if name in info.methods and _builds(info.methods[name]))
    return parts_of_constructor(info.methods, building)


def _assigned_outside_init(info: ClassInfo) -> Mapping[str, tuple[FunctionInfo, ...]]:
    found: dict[str, tuple[FunctionInfo, ...]] = {}
    building = info.builders
    for method in info.methods.values():
        if method.name != "__init__" and method not in building:
            for name in method.stores:
                found[name] = (*found.get(name, ()), method)
    return found


def _kind(info: ClassInfo) -> ClassKind:
    """The first informative kind among the bases.

    A base that a table of a library lists is not looked up in the project's files. One that is only called what bases
    of libraries are called (``Transform``) may be the project's own: then its own bases tell.
    """
    listed = [listed_kind(base) for base in info.bases if isinstance(base, str)]
    found = [ClassKind(kind) for kind in listed if kind is not None]
    if None in listed or not _telling(found):
        found += _kinds_of_unlisted(info)
    telling = _telling(found)
    if telling is not None:
        return telling
    if any(_prepares_images(parent) for parent in info.parents):
        return ClassKind.HOST
    unknown = [base for base in info.resolved_bases if isinstance(base, str) and kind_of_base(base) is None]
    if not unknown and ClassKind.UNKNOWN not in found:
        return ClassKind.PLAIN
    if "forward" in info.methods and not info.methods["forward"].is_static:
        # A class with an unknown base and its own ``forward`` is a Module.
        return ClassKind.MODULE
    return ClassKind.UNKNOWN


def _kinds_of_unlisted(info: ClassInfo) -> Iterator[ClassKind]:
    """The kinds of the bases that no table of a library lists."""
    for base, resolved in zip(info.bases, info.resolved_bases, strict=True):
        if isinstance(resolved, ClassInfo):
            iterates = any("__iter__" in one.methods for one in (info, *resolved.order))
            yield kind_of_own_base(base if isinstance(base, str) else base.name, resolved.kind, iterates)
        elif listed_kind(resolved) is None and (kind := kind_of_base(resolved)) is not None:
            yield ClassKind(kind)


def _prepares_images(parent: ClassInfo) -> bool:
    """Whether it is a base of transforms in a file that imports a library for images on the host (not: graphs)."""
    if not parent.name.endswith("Transform") or parent.linkage is None or parent.is_module:
        return False
    parent.linkage.depends_on(IMPORTS)
    return any(library_models.images_on_host(name) for name in parent.linkage.imports.values())


def _telling(kinds: list[ClassKind]) -> ClassKind | None:
    silent = (ClassKind.PLAIN, ClassKind.UNKNOWN)
    return next((kind for kind in ClassKind if kind in kinds and kind not in silent), None)
