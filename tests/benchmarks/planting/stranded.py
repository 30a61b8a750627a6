"""Whether a value that is left on the CPU meets something that is not, within one function.

The analysis is of syntax alone and errs towards "no": a name counts only if everything stored to it is known.
"""

from __future__ import annotations

import ast
import re

from planting.places import FACTORIES, device_argument, move
from planting.source import File, Function, Scope

KEEPS = frozenset(
    "view reshape unsqueeze squeeze expand repeat float long int bool half double bfloat16 flatten unflatten transpose "
    "permute clone contiguous detach cumsum cumprod exp log sqrt pow sin cos tanh sigmoid neg abs softmax log_softmax "
    "mul_ div_ add_ sub_ fill_ zero_ uniform_ normal_ clamp clamp_ masked_fill masked_fill_ repeat_interleave roll "
    "flip t type requires_grad_ narrow index_fill index_fill_ tril triu tril_ triu_ expand_as view_as".split()
)
"""Methods whose result sits where their receiver does and has dimensions if that has."""
_MEETS = frozenset(
    "add sub mul div matmul mm bmm mv masked_fill masked_fill_ gather scatter scatter_ scatter_add scatter_add_ "
    "index_select index_add index_add_ where eq ne lt gt le ge dot baddbmm add_ mul_ sub_ div_ addmm outer".split()
)
"""Methods all of whose tensors must sit together."""
_NO_OPERATIONS = frozenset(
    "is_tensor numel save load device Size Generator manual_seed no_grad enable_grad inference_mode finfo iinfo "
    "is_floating_point is_complex set_default_dtype get_default_dtype compile jit autocast Tensor tensor as_tensor "
    "from_numpy broadcast_shapes result_type promote_types cartesian_prod distributed cuda multiprocessing backends "
    "utils hub onnx autograd nn optim version random seed initial_seed set_grad_enabled split chunk unbind".split()
)
_LAYERS = re.compile(
    r"(Linear|Conv[123]d|Conv.*|Embedding|EmbeddingBag|LayerNorm|GRU|LSTM|RNN|MultiheadAttention|GroupNorm|BatchNorm.*)"
)
_CALLED = re.compile(r"(^|_)(model|net|network|encoder|decoder|backbone|criterion|loss_fn|loss|loss_func)$")
_HOST = frozenset("item tolist numpy cpu to cuda type_as copy_ is_cuda".split())
"""Methods after which it does not matter, or is not known, where the receiver was."""


class Flow:
    """Where the tensors of one function are, as far as it says itself."""

    def __init__(self, file: File, scope: Scope) -> None:
        self.file, self.scope = file, scope
        self.nodes = list(ast.walk(scope.node))
        self._stores = self._stored()
        self._layers = _layers(file, scope.owner)
        self.placed = self._placed_names()

    def _stored(self) -> dict[str, list[ast.expr | None]]:
        """All that each name is bound to; None for what is no plain assignment."""
        found: dict[str, list[ast.expr | None]] = {}
        plain: set[ast.Name] = set()
        for node in self.nodes:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    for name, value in _pairs(target, node.value):
                        if isinstance(name, ast.Name):
                            plain.add(name)
                            found.setdefault(name.id, []).append(value)
        for node in self.nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del) and node not in plain:
                found.setdefault(node.id, []).append(None)
        return found

    def only_store(self, name: str) -> ast.expr | None:
        """What a name is bound to, where that is one assignment and no parameter."""
        stores = self._stores.get(name, [])
        return stores[0] if len(stores) == 1 and name not in self._parameters() else None

    def stores(self, name: str) -> int:
        return len(self._stores.get(name, []))

    def stores_but(self, name: str, one: ast.expr) -> list[ast.expr] | None:
        """What a name is bound to besides ``one``; None where it is a parameter, or bound by no plain assignment."""
        stores = self._stores.get(name, [])
        known = [store for store in stores if store is not None]
        return None if len(known) < len(stores) or name in self._parameters() else [s for s in known if s is not one]

    def _parameters(self) -> set[str]:
        return {argument.arg for argument in arguments(self.scope.node)}

    def _placed_names(self) -> set[str]:
        """Names of tensors that sit where the function works: their ``.device`` is asked, they are moved, annotated."""
        seeds = {a.arg for a in arguments(self.scope.node) if a.annotation is not None and is_tensor_type(a.annotation)}
        for node in self.nodes:
            match node:
                case ast.Attribute(value=ast.Name(id=name), attr="device") if name not in ("self", "cls", "torch"):
                    if not self._is_called(name):
                        seeds.add(name)
        placed = {name for name in seeds if not self._stores.get(name)}
        while True:
            more = {
                name
                for name, stores in self._stores.items()
                if name not in placed
                and (name in seeds or name not in self._parameters())
                and all(store is not None and self.is_placed(store, placed) for store in stores)
            }
            if not more:
                return placed
            placed |= more

    def _is_called(self, name: str) -> bool:
        modules = ("parameters", "train", "eval", "state_dict", "modules", "named_parameters", "config", "forward")
        return any(
            (isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == name)
            or (
                isinstance(n, ast.Attribute)
                and n.attr in modules
                and isinstance(n.value, ast.Name)
                and n.value.id == name
            )
            for n in self.nodes
        )

    def is_placed(self, node: ast.expr, placed: set[str] | None = None) -> bool:
        """A tensor on the function's device."""
        placed = self.placed if placed is None else placed
        if self.flows(node, set(), placed):
            return True
        return isinstance(node, ast.Call) and (
            move(self.file, node) is not None
            or (self.file.dotted(node.func) in FACTORIES and device_argument(self.file, node) is not None)
            or self.is_layer(node.func)
        )

    def is_layer(self, func: ast.expr) -> bool:
        """``self.linear``: a Module with parameters, which moves with its owner."""
        return isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.attr in self._layers

    def flows(self, node: ast.expr, starts: set[ast.AST], names: set[str]) -> bool:
        """Whether the value of ``node`` is a tensor that sits where those of ``starts`` and ``names`` do."""
        if node in starts:
            return True
        match node:
            case ast.Name(id=name):
                return name in names
            case ast.Attribute(value=value, attr="T" | "mT" | "data" | "real" | "imag"):
                return self.flows(value, starts, names)
            case ast.BinOp(left=left, right=right):
                return self.flows(left, starts, names) or self.flows(right, starts, names)
            case ast.UnaryOp(op=ast.USub() | ast.Invert(), operand=value):
                return self.flows(value, starts, names)
            case ast.Compare(left=left, ops=[op], comparators=[right]) if not isinstance(
                op, ast.Is | ast.IsNot | ast.In | ast.NotIn
            ):
                return self.flows(left, starts, names) or self.flows(right, starts, names)
            case ast.Subscript(value=value, slice=index):
                return _keeps_dimensions(index) and self.flows(value, starts, names)
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in KEEPS:
                return self.flows(value, starts, names)
            case ast.Call() if self.is_operation(node):
                return any(self.flows(operand, starts, names) for operand in operands(node))
        return False

    def is_operation(self, call: ast.Call) -> bool:
        """A function of torch that computes a tensor from its tensors."""
        name = self.file.dotted(call.func) or ""
        if name.startswith("torch.nn.functional."):
            return True
        parts = name.split(".")
        return len(parts) == 2 and parts[0] == "torch" and parts[1] not in _NO_OPERATIONS and name not in FACTORIES

    def stranded(self, start: ast.expr, returned: bool = True) -> bool:
        """Whether ``start``, were it on the CPU, meets a tensor of the function's device or is ``returned``.

        False too if any name that holds it is moved or taken to the host somewhere.
        """
        names = self._reached(start)
        if names is None:
            return False
        starts: set[ast.AST] = {start}
        elsewhere = self.placed - names
        for node in self.nodes:
            if isinstance(node, ast.Return) and node.value is not None and returned:
                values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
                if any(self.flows(value, starts, names) for value in values):
                    return True
            sides = self._sides(node)
            for one in sides:
                if self.flows(one, starts, names):
                    rest = [other for other in sides if other is not one]
                    if any(self.is_placed(other, elsewhere) and not self.flows(other, starts, names) for other in rest):
                        return True
            match node:
                case ast.Call(func=func, args=args) if self.is_layer(func) or _is_model(func):
                    if any(self.flows(argument, starts, names) for argument in args):
                        return True
        return False

    def meets(self, start: ast.expr, beside: set[str]) -> bool:
        """Whether ``start``, were it left where it was, meets what sits on the function's device, or one of ``beside``.

        Seen: an operation with both, a call of a model with it, or its call with them. A name that holds it and is
        moved again, or taken to the host, or bound to more than this, is none.
        """
        names = self._holding({start}, set())
        others = self._holding(set(), (self.placed | beside) - names) - names
        if any(self._is_taken_away(node, start, names) for node in self.nodes):
            return False
        return any(self._meets_at(node, start, names, others) for node in self.nodes)

    def _holding(self, starts: set[ast.AST], names: set[str]) -> set[str]:
        """The names that hold what these are, or what is computed of it; not those that are bound over and over."""
        while more := {
            name
            for name, stores in self._stores.items()
            if name not in names and len(stores) <= 2
            if any(store is not None and self.flows(store, starts, names) for store in stores)
        }:
            names = names | more
        return names

    def calls(self, module: ast.expr, beside: set[str]) -> bool:
        """Whether a module that was left where it was is called with what sits on the function's device."""
        text = ast.unparse(module)
        return any(
            isinstance(node, ast.Call)
            and ast.unparse(node.func) == text
            and any(self.is_placed(argument, self.placed | beside) for argument in node.args)
            for node in self.nodes
        )

    def _is_taken_away(self, node: ast.AST, start: ast.expr, names: set[str]) -> bool:
        own = isinstance(start, ast.Call) and node is start.func
        return (
            isinstance(node, ast.Attribute) and node.attr in _HOST and not own and self.flows(node.value, set(), names)
        )

    def _meets_at(self, node: ast.AST, start: ast.expr, names: set[str], others: set[str]) -> bool:
        if getattr(node, "end_lineno", 0) < start.lineno:
            return False
        starts: set[ast.AST] = {start}
        sides = self._sides(node)
        own = [one for one in sides if self.flows(one, starts, names)]
        if own and any(self.is_placed(one, others) for one in sides if one not in own):
            return True
        match node:
            case ast.Call(func=func, args=args) if self.is_layer(func) or _is_model(func):
                return any(self.flows(argument, starts, names) for argument in args)
            case ast.Call(func=ast.Name(id=name), args=args) if name in names:
                return any(self.is_placed(argument, others) for argument in args)
            case ast.Call(func=ast.Name(id=name), args=args) if name in others:
                return any(self.flows(argument, starts, names) for argument in args)
        return False

    def _sides(self, node: ast.AST) -> list[ast.expr]:
        """The operands of an operation that wants them together."""
        match node:
            case ast.BinOp(left=left, right=right):
                return [left, right]
            case ast.Compare(left=left, comparators=[right]):
                return [left, right]
            case ast.AugAssign(target=ast.Name(id=name) as target, value=value):
                return [ast.copy_location(ast.Name(name, ast.Load()), target), value]
            case ast.Call(func=ast.Attribute(value=value, attr=attr), args=args) if attr in _MEETS:
                return [value, *args]
            case ast.Call() if self.is_operation(node):
                return operands(node)
        return []

    def _reached(self, start: ast.expr) -> set[str] | None:
        """The names that hold what ``start`` is, directly or computed; None if one is bound otherwise, or is moved."""
        names: set[str] = set()
        while True:
            more = set()
            for name, stores in self._stores.items():
                if name in names or not any(
                    store is not None and self.flows(store, {start}, names) for store in stores
                ):
                    continue
                if len(stores) != 1 or name in self._parameters():
                    return None
                more.add(name)
            if not more:
                break
            names |= more
        for node in self.nodes:
            if isinstance(node, ast.Attribute) and node.attr in _HOST and self.flows(node.value, {start}, names):
                return None
        return names


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """What goes where in ``a, b = c, d``; anything else is one pair."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def arguments(node: Function) -> list[ast.arg]:
    a = node.args
    return [*a.posonlyargs, *a.args, *a.kwonlyargs]


def operands(call: ast.Call) -> list[ast.expr]:
    """Its arguments, those in a list or tuple one by one."""
    found: list[ast.expr] = []
    for argument in [
        *call.args,
        *(keyword.value for keyword in call.keywords if keyword.arg not in ("dim", "dtype", "device")),
    ]:
        found += argument.elts if isinstance(argument, ast.List | ast.Tuple) else [argument]
    return found


def is_tensor_type(node: ast.expr) -> bool:
    """``Tensor``, ``torch.Tensor``, ``"Tensor"``; nothing optional."""
    text = ast.unparse(node).strip("'\"")
    return text.split(".")[-1] in ("Tensor", "LongTensor", "FloatTensor", "BoolTensor")


def _keeps_dimensions(index: ast.expr) -> bool:
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(
        isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and part.value in (None, ...)) for part in parts
    )


def _is_model(func: ast.expr) -> bool:
    name = func.attr if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) else ""
    return _CALLED.search(func.id if isinstance(func, ast.Name) else name) is not None


def _layers(file: File, owner: ast.ClassDef | None) -> set[str]:
    """Attributes that only ever hold a Module with parameters."""
    kinds: dict[str, list[bool]] = {}
    for node in ast.walk(owner) if owner is not None else ():
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if (
                    isinstance(target, ast.Attribute)
                    and isinstance(target.value, ast.Name)
                    and target.value.id == "self"
                ):
                    name = (file.dotted(node.value.func) or "") if isinstance(node.value, ast.Call) else ""
                    layer = name.startswith("torch.nn.") and _LAYERS.fullmatch(name.split(".")[-1]) is not None
                    kinds.setdefault(target.attr, []).append(layer)
    return {name for name, stores in kinds.items() if all(stores)}
