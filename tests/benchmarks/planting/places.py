"""What names a place in the syntax of one expression: devices, moves, creations."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from planting.source import File

FACTORIES = frozenset(
    f"torch.{name}"
    for name in (
        "zeros ones empty full arange linspace logspace eye rand randn randint randperm tensor tril_indices "
        "triu_indices hann_window hamming_window bartlett_window blackman_window kaiser_window"
    ).split()
)
FROM_HOST = frozenset({"torch.from_numpy", "torch.frombuffer"})
_DEVICE_NAME = re.compile(r"(^|_)(device|dev)\d?$")


def names_device(file: File, node: ast.expr) -> bool:
    """An expression that is an accelerator or whatever device its caller works on; never the CPU by name."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return _DEVICE_NAME.search(name) is not None and "cpu" not in name.lower()
        case ast.Constant(value=str() as name):
            return name.startswith("cuda")
        case ast.Call(args=[argument, *_]) if file.dotted(node.func) == "torch.device":
            return names_device(file, argument)
    return False


def device_argument(file: File, call: ast.Call) -> ast.keyword | None:
    """The ``device=`` of a call, if it names one."""
    for keyword in call.keywords:
        if keyword.arg == "device" and names_device(file, keyword.value):
            return keyword
    return None


@dataclass(frozen=True)
class Move:
    """``value.to(device)`` or ``value.cuda()``, with nothing but the move in it: no dtype, no memory format."""

    call: ast.Call
    value: ast.expr
    device: str
    """The device as written; equal ones are the same place."""
    argument: ast.expr | None


def move(file: File, node: ast.AST) -> Move | None:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    device = {keyword.arg: keyword.value for keyword in node.keywords}
    rest = set(device) - {"device", "non_blocking"}
    if rest or len(node.args) > 1 or (node.args and "device" in device):
        return None
    argument = node.args[0] if node.args else device.get("device")
    if node.func.attr == "cuda":
        return Move(node, node.func.value, ".cuda" + (ast.unparse(argument) if argument else ""), argument)
    if node.func.attr == "to" and argument is not None and names_device(file, argument):
        return Move(node, node.func.value, ast.unparse(argument), argument)
    return None


def creates(file: File, call: ast.expr) -> bool:
    """A tensor made on the default device, of one dimension or more as far as the arguments tell."""
    if not isinstance(call, ast.Call) or any(keyword.arg in ("device", None) for keyword in call.keywords):
        return False
    name = file.dotted(call.func)
    return name in FROM_HOST or (name in FACTORIES and has_dimensions(file, call))


def has_dimensions(file: File, call: ast.Call) -> bool:
    """Whether a factory's result is surely no scalar tensor, which may meet a tensor anywhere."""
    if not call.args or any(isinstance(argument, ast.Starred) for argument in call.args):
        return False
    first = call.args[0]
    if file.dotted(call.func) == "torch.tensor":
        return isinstance(first, ast.List | ast.ListComp)
    if isinstance(first, ast.List | ast.Tuple):
        return bool(first.elts)
    return True


def unwrapped(file: File, node: ast.expr) -> ast.expr:
    """The iterable below ``enumerate``, ``tqdm`` and the like."""
    while (
        isinstance(node, ast.Call)
        and node.args
        and _last(node.func) in ("enumerate", "tqdm", "trange", "islice", "track")
    ):
        node = node.args[0]
    return node


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def is_loader(file: File, node: ast.expr) -> bool:
    """What is called a loader hands out batches on the CPU."""
    node = unwrapped(file, node)
    return re.search(r"(loader|dl)$", _last(node), re.IGNORECASE) is not None
