"""What an annotation says of a value: a tensor, tensors, a module, a device, a value of the host."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from typing import Literal

from typed.modules import is_torch_module

Kind = Literal["tensor", "tensors", "module", "device", "host", "other", "mixed"]
"""``tensors``: a container of them. ``other``: none of these (a dtype, a callable, a class of the package).

``mixed``: some of these, or nobody knows: a union of a tensor and a number, a list of anything.
"""
KINDS: tuple[Kind, ...] = ("tensor", "tensors", "module", "device", "host")
"""Those that are measured."""

_TENSORS = re.compile(
    r"(Tensor|(Float|Double|Half|BFloat16|Byte|Char|Short|Int|Long|Bool)Tensor|Parameter|Buffer|TensorType)"
)
_SHAPED = frozenset("Float Int Bool Num Shaped Inexact Real Complex UInt Integer Float32 Float64 Int64 Int32".split())
_HOST = frozenset(
    "int float str bool bytes bytearray complex range slice Path PathLike PurePath ndarray NDArray ArrayLike Number "
    "Size SupportsFloat SupportsInt Real Integral datetime timedelta Literal LiteralString DataFrame Series np.ndarray "
    "integer floating float32 float64 int64 bool_ generic StrPath".split()
)
_DEVICES = frozenset({"device", "Device", "DeviceLikeType", "DeviceType", "_DEVICE", "DEVICE_TYPING"})
_CONTAINERS = frozenset(
    "list tuple dict set frozenset deque List Tuple Dict Set FrozenSet Sequence MutableSequence Iterable Iterator "
    "Mapping MutableMapping Collection OrderedDict defaultdict DefaultDict Generator Deque AsyncIterator "
    "KeysView ValuesView NamedTuple Container Reversible".split()
)
_THROUGH = frozenset("Optional Annotated Final ClassVar Required NotRequired ReadOnly Unpack Awaitable".split())
_NOBODY_KNOWS = frozenset("Any object Unknown Never NoReturn Unpack Self T Incomplete Todo".split())

_BY_NAME = (_SHAPED, _HOST, _DEVICES, _CONTAINERS, _THROUGH, _NOBODY_KNOWS)

IsModule = Callable[[str], bool]
"""Whether a name (its last part) is a subclass of ``nn.Module``."""


def kind_of(node: ast.expr | None, is_module: IsModule, aliases: Mapping[str, ast.expr] | None = None) -> Kind | None:
    """The kind of an annotation; None where it is absent, or only ``None``."""
    if node is None:
        return None
    return _Reader(is_module, aliases or {}).read(node)


def kind_of_text(text: str, is_module: IsModule) -> Kind | None:
    """The kind of a type as a checker prints it; None where it knows nothing."""
    try:
        node = ast.parse(_as_python(text), mode="eval").body
    except SyntaxError:
        return None
    return kind_of(node, is_module)


def _as_python(text: str) -> str:
    text = re.sub(r"@\w+", "", text)  # ty: T@function
    text = re.sub(r"<class '([\w.]+)'>|<(?:module|function|bound method)[^>]*>", "Callable", text)
    text = text.replace("...", "None") if "..." in text else text
    return text.replace("*", "").strip()


class _Reader:
    def __init__(self, is_module: IsModule, aliases: Mapping[str, ast.expr]) -> None:
        self._is_module, self._aliases = is_module, aliases
        self._depth = 0

    def read(self, node: ast.expr) -> Kind | None:
        if self._depth > 12:
            return "mixed"
        self._depth += 1
        try:
            return self._read(node)
        finally:
            self._depth -= 1

    def _read(self, node: ast.expr) -> Kind | None:
        match node:
            case ast.Constant(value=None):
                return None
            case ast.Constant(value=str() as text):
                try:
                    return self.read(ast.parse(text.strip(), mode="eval").body)
                except SyntaxError:
                    return "mixed"
            case ast.Constant():
                return "host"  # within Literal
            case ast.BinOp(op=ast.BitOr(), left=left, right=right):
                return self._joined([left, right])
            case ast.Subscript(value=value, slice=index):
                return self._subscripted(_last(value), index.elts if isinstance(index, ast.Tuple) else [index])
            case ast.Name() | ast.Attribute():
                return self._named(_last(node), ast.unparse(node))
        return "mixed"

    def _named(self, name: str, dotted: str) -> Kind | None:
        if dotted in self._aliases:
            return self.read(self._aliases[dotted])
        if _TENSORS.fullmatch(name) and not dotted.startswith(("tf.", "np.", "jax.")):
            return "tensor"
        if dotted == "torch.tensor":
            return "tensor"  # the function, where the class is meant
        if name in _DEVICES:
            return "device"
        if name in _HOST:
            return "host"
        if name == "Generator" and dotted != name:
            return "other"  # of random numbers
        if name in _NOBODY_KNOWS or name in _CONTAINERS:
            return "mixed"
        if name in ("None", "NoneType"):
            return None
        return "module" if self._is_module(name) or is_torch_module(dotted) else "other"

    def _subscripted(self, name: str, arguments: list[ast.expr]) -> Kind | None:
        if name == "Literal":
            return "host"
        if name in ("Union", "Optional"):
            return self._joined(arguments)
        if name in _SHAPED or name in _THROUGH:
            return self.read(arguments[0])
        if name in ("dict", "Dict", "Mapping", "MutableMapping", "OrderedDict", "defaultdict", "DefaultDict"):
            arguments = arguments[1:]
        if name in ("Generator",):
            arguments = arguments[:1]
        if name in _CONTAINERS:
            return self._container(arguments)
        if name in ("type", "Type", "Callable"):
            return "other"
        return self._named(name, name)

    def _container(self, arguments: list[ast.expr]) -> Kind | None:
        told = [a for a in arguments if not (isinstance(a, ast.Constant) and a.value in (..., None))]
        kinds = {self.read(argument) for argument in told} - {None}
        if not kinds:
            return "mixed"
        if kinds <= {"tensor", "tensors"}:
            return "tensors"
        if len(kinds) == 1:
            (only,) = kinds
            return only if only == "host" else "other" if only in ("other", "module", "device") else "mixed"
        return "mixed"

    def _joined(self, nodes: list[ast.expr]) -> Kind | None:
        kinds = {self.read(node) for node in nodes} - {None}
        if not kinds:
            return None
        if "device" in kinds and kinds <= {"device", "host"}:
            return "device"  # "str | torch.device | int"
        if len(kinds) == 1:
            return kinds.pop()
        return "mixed"


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def says_a_kind(name: str) -> bool:
    """Whether a type is known by its name, wherever it comes from: ``Tensor``, ``NDArray``, jaxtyping's ``Float``."""
    return _TENSORS.fullmatch(name) is not None or any(name in known for known in _BY_NAME)


def is_device_by_name(name: str, node: ast.expr) -> bool:
    """``device: str``: a device though its type is one of the host."""
    return name == "device" and ast.unparse(node) in (
        "str",
        "str | None",
        "Optional[str]",
        "Union[str, int]",
        "str | int",
    )
