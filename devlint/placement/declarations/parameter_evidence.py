"""What a function's parameter holds: by its annotation, its default, its docstring, and how the body uses it."""

from __future__ import annotations

import re
from collections.abc import Container
from enum import Enum
from functools import lru_cache

import libcst as cst

from devlint import semantics
from devlint.placement.declarations import evidence_conventions as conventions
from devlint.placement.declarations import evidence_names as names
from devlint.placement.declarations import evidence_rows as rows
from devlint.placement.declarations.definitions import FunctionInfo
from devlint.placement.declarations.evidence_arrays import may_work_with_arrays
from devlint.placement.declarations.evidence_docstrings import documented_parameters
from devlint.placement.declarations.evidence_grades import (
    Grade,
    Shows,
    Signs,
    Uses,
    convention_of,
    grade_of,
    grades_of,
    tensor_grade,
)
from devlint.placement.declarations.evidence_kept import NOT_KEPT, kept_in
from devlint.placement.declarations.evidence_literals import unsigned
from devlint.placement.declarations.evidence_uses import uses_in
from devlint.placement.declarations.imports import ImportTable
from devlint.placement.declarations.known_classes import (
    OTHER_FRAMEWORKS,
    ClassKind,
    is_of_another_framework,
    listed_kind,
)
from devlint.placement.syntax.nodes import code_of, dotted, parameters_of
from devlint.records import dataclass


class Role(Enum):
    """What a parameter holds."""

    __hash__ = object.__hash__  # of a member, of which there is one: the one of enumerations is slow

    TENSOR = "tensor"
    LIKELY_TENSOR = "likely tensor"
    """By a convention."""
    NAMED_TENSOR = "named like a tensor"
    """By nothing but its name."""
    TENSORS = "tensors"
    TENSORS_BY_NAME = "tensors by name"
    MODULE = "module"
    DEVICE = "device"
    NUMPY = "numpy"
    HOST = "host"
    PLACED = "placed"
    """Its ``.device`` is read and nothing else is known: a tensor most often, a configuration sometimes."""
    SEVERAL = "several"
    """It is gone through item by item, and nothing is known of the items."""
    NO_TENSOR = "no tensor"
    """It is used as no tensor can be, and nothing else is known."""
    ANYTHING = "anything"


@dataclass(frozen=True, slots=True)
class Held:
    """What a parameter holds, and the convention by which it counts as that; empty where it is certain."""

    role: Role
    convention: str = ""
    class_name: str = ""
    """The class of the project that it is an object of, as its file names it; empty where that is not known."""


DOUBTED = "doubted"
"""In the place of a convention: none may speak of it."""


@dataclass(frozen=True, slots=True)
class NameUses:
    """What the uses of names in one definition show. Items are named as the source writes them: ``batch[key]``."""

    tensors: frozenset[str] = frozenset()
    """Names and items that are used as tensors are, and never handed to a conversion."""
    certain: frozenset[str] = frozenset()
    """Those among them that are used as only tensors can be."""
    tensor_items: frozenset[str] = frozenset()
    """The items among the tensors."""
    placed: frozenset[str] = frozenset()
    """Names and items whose ``.device`` is read."""
    moved: frozenset[str] = frozenset()
    """Names of which a method moves something."""
    modules: frozenset[str] = frozenset()
    """Names that are used as only modules can be, or are moved and called."""
    structured: frozenset[str] = frozenset()
    """Names that are used as batches and graphs are, and no tensor can be."""
    with_dimensions: frozenset[str] = frozenset()
    """Names of which an item is read."""
    computed: frozenset[str] = frozenset()
    """Names that are used as tensors, and not only they, may be."""
    several: frozenset[str] = frozenset()
    """Names that are gone through item by item."""
    bound_with_dimensions: frozenset[str] = frozenset()
    """Names of the body whose values all have dimensions."""


def name_uses(uses: Uses) -> NameUses:
    """The uses of a body, by what they show."""
    graded = {name: _tensor_grade_beside_modules(name, signs) for name, signs in uses.signs.items()}

    names: dict[Shows, list[str]] = {}
    for name, signs in uses.signs.items():
        for shows in {sign.shows for sign in signs}:
            names.setdefault(shows, []).append(name)

    def showing(shows: Shows) -> frozenset[str]:
        return frozenset(names.get(shows, ()))

    tensors = frozenset(name for name, grade in graded.items() if grade is not None)
    certain = frozenset(name for name, grade in graded.items() if grade is Grade.CERTAIN)
    items = frozenset(name for name in tensors if "[" in name)
    computed = frozenset(name for name, signs in uses.signs.items() if not signs.isdisjoint(_COMPUTED))
    placed, moved, indexed = map(showing, (Shows.PLACED, Shows.MOVED, Shows.DIMENSIONS))
    modules, structured, several = map(showing, (Shows.MODULE, Shows.STRUCTURED, Shows.SEVERAL))
    return NameUses(
        tensors, certain, items, placed, moved, modules, structured, indexed, computed, several, uses.with_dimensions
    )


_COMPUTED = frozenset({rows.COMPUTED, rows.NO_NUMBER})


def _tensor_grade_beside_modules(name: str, signs: Signs) -> Grade | None:
    """A module has methods of a tensor's name (``model.float()``): by convention, what is called a model is none."""
    grade = tensor_grade(signs)
    otherwise = grade_of(signs, Shows.MODULE) is not None or grade_of(signs, Shows.NO_TENSOR) is not None
    doubted = otherwise or names.names_a_module(name)
    return None if grade is Grade.CONVENTIONAL and doubted else grade


def roles_of(info: FunctionInfo, imports: ImportTable) -> dict[str, Held]:
    """What each parameter of a function holds by its own body, by name. ``imports`` are those of its file."""
    uses = uses_in(info, imports)
    documented = documented_parameters(info)
    constructs = info.name == "__init__"
    kept = kept_in(info, imports) if constructs and info.owner is not None else {}
    parameters = parameters_of(info.node)
    beside = {param.name.value for param in parameters}
    arrays = may_work_with_arrays(info, imports)
    found = {
        name: _held(
            param,
            uses.signs.get(name, frozenset()) | kept.get(name, NOT_KEPT).signs,
            documented.get(name, ""),
            imports,
            None if constructs or names.names_a_builder(info.name) else beside,
            arrays,
        )
        for param in parameters
        for name in (param.name.value,)
    }
    for name, attribute in kept.items():
        own = uses.signs.get(name, frozenset())
        open_ = (Role.ANYTHING, Role.PLACED) if rows.NO_TENSOR in own else (Role.ANYTHING, Role.PLACED, Role.NO_TENSOR)
        if attribute.called and found[name].role in open_:
            function = names.names_a_function(name) and name != "fn"  # ``PreNorm(dim, fn)``
            found[name] = Held(Role.NO_TENSOR) if function else Held(Role.MODULE, conventions.CALLED_BY_MODULE)
    return found


def _held(
    param: cst.Param,
    signs: Signs,
    documented: str,
    imports: ImportTable,
    beside: Container[str] | None,
    arrays: bool,
) -> Held:
    """``beside`` are the names of all parameters of the function; None where it builds: it is told sizes and flags.

    ``arrays``: what has a shape may be of a library of arrays.
    """
    name = param.name.value
    shown = grades_of(signs)
    tensor, module = tensor_grade(signs), shown.get(Shows.MODULE)
    array = shown.get(Shows.ARRAY)
    no_tensor = shown.get(Shows.NO_TENSOR) is not None
    if shown.get(Shows.OTHERWISE) is not None or (no_tensor and tensor is Grade.CERTAIN):
        # A tensor is bound to the name later on; or it is a class that looks like one: it has what no tensor has.
        tensor, no_tensor = None, shown.get(Shows.ITEMS) is None
    if names.names_a_tensordict(name) and param.annotation is None:
        return Held(Role.NO_TENSOR) if no_tensor else Held(Role.ANYTHING, DOUBTED)
    certain = tensor is Grade.CERTAIN
    if names.names_processes(name) and convention_of(signs, Shows.TENSOR) == conventions.SIZE_IS_CALLED:
        tensor = None
    # What is converted may be a list: the shape is that of what the conversion gives.
    as_given = shown.get(Shows.CONVERTED) is not Grade.CERTAIN
    shaped = shown.get(Shows.ARRAY_LIKE) is not None and as_given and not arrays
    if names.names_a_device(name) and not certain and module is None:
        return Held(Role.DEVICE)
    if param.annotation is not None:
        by_annotation = annotated(code_of(param.annotation.annotation), imports)
        if by_annotation is not None:
            return Held(by_annotation)
    if _is_number(param.default):
        return Held(Role.HOST)
    if param.annotation is None and _is_module(param.default, imports):
        return Held(Role.MODULE)
    converted = shown.get(Shows.CONVERTED) is not None
    if certain and converted and param.annotation is None and annotated(documented, imports) is Role.HOST:
        # `lookdir = torch.asarray(lookdir)`, documented as numbers: what is computed with is the tensor made of them.
        return Held(Role.HOST, conventions.DOCUMENTED)
    if certain:
        return Held(Role.TENSOR)
    if shown.get(Shows.TEXT) is not None and param.annotation is None:
        return Held(Role.HOST)
    if module is not None and not names.names_no_module(name) and not _is_configured(name, module):
        return Held(Role.MODULE, convention_of(signs, Shows.MODULE))
    number = shown.get(Shows.NO_NUMBER) is None
    if number and tensor is None and shown.get(Shows.SIZE) is not None and param.annotation is None:
        return Held(Role.HOST)
    tested = shown.get(Shows.TESTED) is not None
    doubted = shown.get(Shows.DOUBTFUL) is not None or conventions.names_a_configuration(name)
    if param.annotation is None:
        by_docstring = annotated(documented.replace("tensor", "Tensor"), imports) if documented else None
        if by_docstring is Role.TENSOR and array is not Grade.CERTAIN:
            return Held(Role.LIKELY_TENSOR, conventions.DOCUMENTED)
        if by_docstring in _DOCUMENTED and tensor is None:
            return Held(by_docstring, conventions.DOCUMENTED)
        told_otherwise = by_docstring in (Role.HOST, Role.NUMPY) or no_tensor or tested or not _is_none(param.default)
        if tensor is not None and not told_otherwise:
            return Held(Role.LIKELY_TENSOR, convention_of(signs, Shows.TENSOR))
        if shaped and array is None and not told_otherwise and not doubted:
            return Held(Role.LIKELY_TENSOR, conventions.HAS_A_SHAPE)
        if shown.get(Shows.ITEMS) is not None and not (told_otherwise or conventions.names_a_loader(name)):
            return Held(Role.TENSORS, conventions.ITEMS_ARE_TENSORS)
        one = not no_tensor and shown.get(Shows.SEVERAL) is None and not names.names_a_function(name)
        if shown.get(Shows.PLACED) is not None and array is not Grade.CERTAIN and one:
            if names.names_a_module(name):
                return Held(Role.MODULE, conventions.NAMED_MODULE)
            if conventions.names_a_configuration(name):
                return Held(Role.NO_TENSOR)
            # What has a device and picks items is a tensor of indices.
            role = Role.PLACED if shown.get(Shows.INDEX) is None else Role.LIKELY_TENSOR
            return Held(role, conventions.HAS_A_DEVICE)
    if not _is_none(param.default):
        return Held(_of_default(param.default))
    if beside is not None and shown.get(Shows.CALLED) is not None and names.names_a_part(name):
        return Held(Role.MODULE, conventions.NAMED_PART)
    if names.names_a_number(name):
        return Held(Role.HOST)
    called = shown.get(Shows.CALLED) is not None and names.names_a_module(name)
    if called and _is_of_a_class(param.annotation, imports):
        # `net: Detector`, of a package that is not here: it is called what modules are called, and called.
        return Held(Role.MODULE, conventions.NAMED_MODULE)
    doubted = doubted or documented != "" or array is not None or converted
    unpacked = shown.get(Shows.UNPACKED) is not None
    several = (unpacked or shown.get(Shows.SEVERAL) is not None or names.names_tensors(name)) and not no_tensor
    # A tensor may be gone through as well: what is called as one is one.
    named = names.names_a_plain_value(name) or names.names_a_module(name)
    named = named or (names.names_a_tensor(name) and not unpacked)
    if param.annotation is None and several and not named:
        return Held(Role.SEVERAL, conventions.NAMED if names.names_a_tensor(name) else "")
    if param.annotation is None and not (doubted and not no_tensor):
        return _named(name, number, no_tensor or tested, imports, beside, arrays)
    return Held(Role.NO_TENSOR) if no_tensor else Held(Role.ANYTHING, DOUBTED if doubted else "")


def _of_default(default: cst.BaseExpression | None) -> Role:
    """``act=relu``: a function, a class or an object of the file, of which nothing is known; no tensor as a rule."""
    constant = not isinstance(default, cst.Name) or default.value.isupper() or default.value in ("True", "False")
    return Role.HOST if constant else Role.NO_TENSOR


def _is_of_a_class(annotation: cst.Annotation | None, imports: ImportTable) -> bool:
    """Whether an annotation is the name of an imported class, of no other framework."""
    text = code_of(annotation.annotation).strip("'\"") if annotation is not None else ""
    imported = imports.qualified(text)
    named = text.replace(".", "_").isidentifier() and text.rpartition(".")[2][:1].isupper()
    return named and "." in imported and not is_of_another_framework(imported)


def _is_configured(name: str, module: Grade) -> bool:
    """``cfg.in_features``: what layers have by convention, configurations have as well."""
    return module is Grade.CONVENTIONAL and conventions.names_a_configuration(name)


def _named(
    name: str, number: bool, no_tensor: bool, imports: ImportTable, beside: Container[str] | None, arrays: bool
) -> Held:
    """What a parameter holds by its name alone; ``number``: it may be one."""
    if names.names_a_plain_value(name):
        return Held(Role.HOST if number else Role.NO_TENSOR if no_tensor else Role.ANYTHING, conventions.NAMED)
    if names.names_a_module(name):
        return Held(Role.MODULE, conventions.NAMED_MODULE)
    if no_tensor or names.names_a_collection(name):
        return Held(Role.NO_TENSOR)
    if beside is None or not OTHER_FRAMEWORKS.isdisjoint(imports.packages):
        return Held(Role.ANYTHING)
    written = names.is_written(name, beside)
    array = names.names_an_array(name) and arrays
    if names.is_compared(name, beside) or (names.names_a_tensor(name) and not (array or written)):
        return Held(Role.NAMED_TENSOR, conventions.NAMED)
    return Held(Role.ANYTHING)


def _is_none(default: cst.BaseExpression | None) -> bool:
    """Whether there is no default, or ``None``."""
    return default is None or (isinstance(default, cst.Name) and default.value == "None")


_DOCUMENTED = frozenset({Role.TENSORS, Role.TENSORS_BY_NAME, Role.MODULE, Role.NUMPY, Role.HOST})
"""Roles that a docstring may state."""


def _is_module(default: cst.BaseExpression | None, imports: ImportTable) -> bool:
    """``activation=nn.ReLU()``."""
    return isinstance(default, cst.Call) and module_class(dotted(default.func) or "", imports) != ""


def _is_number(default: cst.BaseExpression | None) -> bool:
    """What defaults to a number is one, whatever it is handed to: ``torch.pow(theta, t)`` takes both."""
    if default is None:
        return False
    default = unsigned(default)
    return isinstance(default, (cst.Integer, cst.Float, cst.SimpleString)) or (
        isinstance(default, cst.Name) and default.value in ("True", "False")
    )


_HOST_TYPES = frozenset(
    """
    int float bool str bytes Path Callable Number dtype Size Any_ Literal PathLike Logger Namespace Config
    slice
    """.split()
)
_CONTAINERS_OF_HOST = frozenset({"Optional", "Union", "None", "List", "list", "Tuple", "tuple", "Sequence"})


_BY_NAME = re.compile(
    r"(?:\w+\.)*(?:Dict|dict|Mapping|MutableMapping|OrderedDict)\[\s*str\s*,\s*(?:\w+\.)*\w*Tensor\s*\]"
)


def annotated(text: str, imports: ImportTable) -> Role | None:
    """The role an annotation states; None when it names nothing this analysis knows."""
    text = text.strip("'\"")
    if module_class(text, imports) or _is_a_known_module(text, imports):
        return Role.MODULE
    if "Tensor" in text:
        text = _DOTTED.sub(
            lambda name: "ndarray" if is_of_another_framework(imports.qualified(name[0])) else name[0], text
        )
    if "Parameter" in text:
        text = _PARAMETER.sub(lambda name: name[0] if _is_torchs(name[0], imports) else "of_its_own", text)
    return _role_of_type(imports.spelled_out(text))


def _is_a_known_module(text: str, imports: ImportTable) -> bool:
    """``model: LightningModule | None``: a library's class that is a Module, whatever is called or derived from it."""
    if "[" in text and _ONE_OF.match(text) is None:
        return False
    named = [name for name in _NAME.findall(text) if name.rpartition(".")[2] not in ("Optional", "Union", "None")]
    listed = [imports.qualified(name) for name in named]
    return bool(listed) and all(not one.startswith("torch.") and listed_kind(one) in _MODULES for one in listed)


_NAME = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")
_ONE_OF = re.compile(r"(?:\w+\.)*(?:Optional|Union)\[")
_MODULES = (ClassKind.MODULE.value, ClassKind.LIGHTNING.value)

_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.\w+)+")
_PARAMETER = re.compile(r"\b(?:[A-Za-z_]\w*\.)*Parameter\b")


def _is_torchs(name: str, imports: ImportTable) -> bool:
    """Whether a name comes from torch: many a library has a ``Parameter`` of its own, ``inspect`` among them."""
    return imports.qualified(name).partition(".")[0] == "torch"


def states_parameter(text: str, imports: ImportTable) -> bool:
    """Whether an annotation says ``nn.Parameter``, and no other tensors: a Module registers what it is given."""
    if not any(_is_torchs(name[0], imports) for name in _PARAMETER.finditer(text)):
        return False
    words = frozenset(re.findall(r"\w+", text))
    return "Parameter" in words and words <= {"torch", "nn", "parameter", "Parameter", "Optional", "Union", "None"}


_HEAD = re.compile(r"(?:\w+\.)*(\w+)\s*\[")
_HOLDER = re.compile(
    r"""
    Optional|Union|Annotated|Final|ClassVar|InitVar|Required|NotRequired|Callable
    |\w*(?i:list|tuple|set|dict|deque|mapping|sequence|iterable|iterator|generator|collection)
    |(?:Float|Int|UInt|Complex|Bool|Num|Real|Inexact|Integer|Shaped|Key)\d*
    """,
    re.VERBOSE,
)
"""Generic types that are what they hold, or hold it: those of the standard library, and jaxtyping's arrays."""


@lru_cache(4096)
def _role_of_type(text: str) -> Role | None:
    """What the words of an annotation say, whatever the file imports."""
    if _BY_NAME.fullmatch(text):
        return Role.TENSORS_BY_NAME
    if (head := _HEAD.match(text)) is not None and _HOLDER.fullmatch(head[1]) is None:
        # `Spec[Tensor]`: an object of another class, whatever that is of.
        return None
    words = frozenset(re.findall(r"\w+", text))
    if words & {"device", "Device", "DeviceLikeType"}:
        return Role.DEVICE
    if words & {"Tensor", "FloatTensor", "LongTensor", "BoolTensor", "IntTensor", "Parameter"}:
        if words & _BESIDE_TENSORS:
            mixed = words & (_BESIDE_TENSORS - {"list", "List"})
            return Role.TENSORS if words & _SEQUENCES and not mixed else Role.ANYTHING
        if words & (_SEQUENCES | {"Callable", "set", "Set"}):
            return Role.TENSORS if "Callable" not in words else Role.HOST
        return Role.TENSOR
    if words & {"ndarray", "NDArray"}:
        # An item of a list of arrays may be replaced by anything.
        return Role.HOST if words & _SEQUENCES else Role.NUMPY
    if words & {"Module", "ModuleList", "Sequential"}:
        return Role.MODULE
    # A bare `tuple` or `list` says nothing of what is in it.
    if words & _HOST_TYPES and words <= _HOST_TYPES | _CONTAINERS_OF_HOST:
        return Role.HOST
    return None


_BESIDE_TENSORS = frozenset("ndarray NDArray ArrayLike NdarrayOrTensor float int str Image list List".split())
"""Types that a union names beside a tensor, and lists."""
_SEQUENCES = frozenset(
    "list List tuple Tuple Sequence Iterable Iterator Generator Collection deque Dict dict Mapping".split()
)


def module_class(text: str, imports: ImportTable) -> str:
    """The ``torch.nn`` class that an annotation names; empty when it names another or none."""
    qualified = imports.qualified(text)
    return qualified if qualified.startswith("torch.nn.") and semantics.module(qualified) is not None else ""
