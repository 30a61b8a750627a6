"""One use of a parameter ``p``, in words that stand for all uses like it; ``y`` is anything."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping


def uses(
    node: ast.Name, parents: Mapping[ast.AST, ast.AST], tensors: set[str], imported: Mapping[str, str]
) -> Iterator[str]:
    parent = parents[node]
    match parent:
        case ast.Attribute(value=value, attr=attr) if value is node:
            yield from _attribute(parent, attr, parents)
        case ast.Subscript(value=value, slice=index) if value is node:
            yield f"p[{_index(index)}]" + (" = ..." if isinstance(parent.ctx, ast.Store) else "")
        case ast.Subscript(slice=value) if value is node:
            yield "y[p]"
        case ast.BinOp(left=left, op=op, right=right):
            other = right if left is node else left
            sign = (
                "@"
                if isinstance(op, ast.MatMult)
                else "**"
                if isinstance(op, ast.Pow)
                else _OPERATORS.get(type(op), "?")
            )
            yield f"p {sign} {_operand(other, tensors, imported)}"
        case ast.UnaryOp(op=op):
            yield {ast.USub: "-p", ast.Invert: "~p", ast.Not: "not p", ast.UAdd: "+p"}[type(op)]
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            other = right if left is node else left
            if isinstance(op, ast.Is | ast.IsNot):
                yield "p is None" if isinstance(other, ast.Constant) and other.value is None else "p is y"
            elif isinstance(op, ast.In | ast.NotIn):
                yield "p in y" if left is node else "y in p"
            else:
                sign = "==" if isinstance(op, ast.Eq | ast.NotEq) else "<"
                yield f"p {sign} {_operand(other, tensors, imported)}"
        case ast.Call(func=func) if func is node:
            yield "p(...)"
        case ast.Call(func=func, args=args) if node in args:
            yield from _argument(func, args.index(node), parent, imported)
        case ast.keyword(arg=arg):
            told = f"f({arg}=p)" if arg in ("device", "dtype", "dim", "size", "input", "out") else "f(k=p)"
            yield "f(**p)" if arg is None else told
            call = parents[parent]
            if isinstance(call, ast.Call) and (name := _dotted(call.func, imported)).startswith("torch") and arg:
                yield f"{name}({arg}=p)"
        case ast.For(iter=value) | ast.comprehension(iter=value) if value is node:
            yield "for y in p"
        case ast.Starred():
            yield "f(*p)"
        case ast.If(test=value) | ast.IfExp(test=value) | ast.While(test=value) | ast.Assert(test=value) if (
            value is node
        ):
            yield "if p"
        case ast.BoolOp():
            yield "p and y"
        case ast.FormattedValue():
            yield 'f"{p}"'
        case ast.Return():
            yield "return p"
        case ast.AugAssign(value=value) if value is node:
            yield "y += p"
        case ast.Assign(targets=[ast.Tuple() | ast.List()]):
            yield "a, b = p"
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"))]):
            yield "self.y = p"
        case ast.Assign(targets=[ast.Subscript()]):
            yield "y[i] = p"
        case ast.List() | ast.Tuple() if isinstance(parents.get(parent), ast.Call):
            name = _dotted(parents[parent].func, imported)  # type: ignore[attr-defined]
            if name.startswith("torch."):
                yield f"{name}([p, ...])"
        case ast.withitem():
            yield "with p"


_OPERATORS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip


def _attribute(node: ast.Attribute, attr: str, parents: Mapping[ast.AST, ast.AST]) -> Iterator[str]:
    parent = parents[node]
    if isinstance(node.ctx, ast.Store):
        yield f"p.{attr} = ..."
    elif isinstance(parent, ast.Call) and parent.func is node:
        bare = not parent.args and not parent.keywords
        yield f"p.{attr}({'' if bare else '...'})"
        yield "p.<method>(...)"
        if attr in ("to", "size") and parent.args:
            yield f"p.{attr}({_first(parent.args[0])})"
    else:
        yield f"p.{attr}"
        if attr == "shape" and isinstance(parent, ast.Subscript):
            yield "p.shape[...]"
        if attr == "shape" and isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Tuple):
            yield "a, b = p.shape"


def _first(node: ast.expr) -> str:
    if "device" in ast.unparse(node):
        return "device"
    return "number" if isinstance(node, ast.Constant | ast.UnaryOp) else "y"


def _index(node: ast.expr) -> str:
    match node:
        case ast.Tuple(elts=elts):
            slices = any(
                isinstance(e, ast.Slice) or (isinstance(e, ast.Constant) and e.value in (None, ...)) for e in elts
            )
            return "i, :" if slices else "i, j"
        case ast.Slice():
            return ":"
        case ast.Constant(value=value):
            return "None" if value is None else "..." if value is ... else '"key"' if isinstance(value, str) else "0"
        case ast.UnaryOp(op=ast.USub()):
            return "-1"
        case ast.Compare() | ast.UnaryOp(op=ast.Invert()):
            return "mask"
    return "i"


def _operand(node: ast.expr, tensors: set[str], imported: Mapping[str, str]) -> str:
    match node:
        case ast.Constant(value=str()):
            return '"text"'
        case ast.Constant() | ast.UnaryOp(operand=ast.Constant()):
            return "number"
        case ast.Name(id=name) if name in tensors:
            return "tensor"
        case ast.Call(func=func) if _dotted(func, imported).startswith(("torch.", "torch.nn.functional.")):
            return "torch.f(...)"
        case ast.List() | ast.Tuple() | ast.ListComp():
            return "[...]"
    return "y"


def _argument(func: ast.expr, number: int, call: ast.Call, imported: Mapping[str, str]) -> Iterator[str]:
    name = _dotted(func, imported)
    if name == "isinstance" and number == 0 and len(call.args) == 2:
        told = ast.unparse(call.args[1])
        yield f"isinstance(p, {told if len(told) < 40 else '...'})"
    elif name == "super" or not name:
        yield "y.m(p)" if isinstance(func, ast.Attribute) else "f(p)"
        if isinstance(func, ast.Attribute):
            if isinstance(func.value, ast.Name) and func.value.id == "self":
                yield "self.m(p)"
            elif func.attr in _METHODS:
                yield f"y.{func.attr}(p)"
    elif name.startswith("torch.nn.functional."):
        yield "F.f(p, ...)" if number == 0 else "F.f(y, p)"
        yield f"F.{name.removeprefix('torch.nn.functional.')}#{number}"
    elif name.startswith("torch.") and name.count(".") == 1:
        yield "torch.f(p, ...)" if number == 0 else "torch.f(y, p)"
        yield f"{name}#{number}"
    elif name.startswith("torch."):
        yield f"{name}#{number}"
    else:
        top = name.split(".")[0]
        if "." in name and top in _LIBRARIES:
            yield f"{_LIBRARIES[top]}.f(p)"
        else:
            yield f"{name}(p)" if name in _BUILTINS else "f(p)"
        if top == "numpy":
            yield f"{name}#{number}"


_LIBRARIES = {"numpy": "np", "math": "math", "os": "os", "random": "random", "scipy": "scipy", "einops": "einops"}
_METHODS = frozenset(
    "to view reshape add mul matmul append masked_fill index_select gather load_state_dict expand_as type_as copy_ "
    "new_tensor".split()
)
_BUILTINS = frozenset(
    "len int float str bool list tuple dict set range zip enumerate sum min max abs sorted reversed any all iter next "
    "map filter type hasattr getattr callable print repr round vars open".split()
)


def _dotted(node: ast.expr, imported: Mapping[str, str]) -> str:
    """The dotted name that imports give; a builtin by its own; empty where neither."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        if node.id in imported:
            return ".".join([imported[node.id], *reversed(parts)])
        if not parts and (node.id in _BUILTINS or node.id in ("isinstance", "super")):
            return node.id
    return ""
