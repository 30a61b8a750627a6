"""Mutants of moves: dropped, thrown away, forgotten."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from planting.mutant import Mutant, planted
from planting.places import Move, is_loader, move
from planting.source import File, Scope
from planting.starting import cpu_start, starts_elsewhere
from planting.stranded import Flow, is_tensor_type

_LABEL = re.compile(r"(label|target|tgt|truth|annot|(^|_)gt|^y$|^y_)", re.IGNORECASE)
_ATTRIBUTES_OF_TENSORS = frozenset(
    "shape size dim unsqueeze squeeze view reshape permute transpose sum mean detach clone requires_grad_ argmax "
    "contiguous expand repeat ndim numel softmax backward masked_fill scatter_ gather long".split()
)
_ATTRIBUTES_OF_MODULES = frozenset(
    "parameters named_parameters state_dict load_state_dict train eval modules children config forward apply".split()
)


def moves(flow: Flow) -> list[Move]:
    return [found for node in flow.nodes if (found := move(flow.file, node)) is not None]


def dropped(file: File, scope: Scope, flow: Flow) -> Iterator[Mutant]:
    """drop-move: ``torch.from_numpy(a).to(device)`` -> ``torch.from_numpy(a)``.

    What was moved is on the CPU (made there in this function without ``device=``, or handed out by a loader), and now
    meets a tensor of the function's device in an operation that wants them together, goes into a model, or is returned.
    """
    for one in moves(flow):
        if cpu_start(file, flow, one.value) and flow.stranded(one.call):
            yield planted("drop-move", file, scope, (file.replaced(one.call, file.operand(one.value)),))


def discarded(file: File, scope: Scope, flow: Flow) -> Iterator[Mutant]:
    """discard: ``x = x.to(device)`` -> ``x.to(device)``.

    ``x`` is a tensor (annotated so, made by torch, or used by methods that only tensors have, and by none that modules
    have), and is read afterwards. The code moves it, so it may come from elsewhere; now it stays there.
    """
    for node in flow.nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                one = move(file, value)
                if one is None or not isinstance(one.value, ast.Name) or one.value.id != name:
                    continue
                if is_tensor(flow, name) and _read_after(flow, name, node):
                    yield planted("discard", file, scope, (file.replaced(node, file.text(value)),))


def forgotten(file: File, scope: Scope, flow: Flow) -> Iterator[Mutant]:
    """forget: one of several values that a function moves to one place stays where it is. label: it is the target.

    They are moved by statements of one block (``a = a.to(device)``; ``a.to(device)`` only for what is called, or is
    otherwise a module), or in one statement. The forgotten one is on the CPU (as for drop-move), and meets another one
    of them, or what sits on the function's device, in an operation, in a call of a model or by being called. What comes
    from the caller may have been there all along, and what is only kept, returned or handed on may meet nothing. A
    label is named so, in a training or validation step or a loop over a loader, unpacked beside what else is moved.
    """
    for group in _groups(file, flow):
        for one in group:
            kind = "label" if _is_label(file, scope, flow, one, group) else "forget"
            parent = file.parents[one.call]
            match parent, one.value:
                case ast.Assign(), ast.Name(id=name) if not _read_after(flow, name, parent):
                    continue
            statement = _own_statement(file, one)
            beside = {other.value.id for other in group if other is not one and isinstance(other.value, ast.Name)}
            if not (flow.calls(one.value, beside) if isinstance(parent, ast.Expr) else flow.meets(one.call, beside)):
                continue
            if not starts_elsewhere(file, flow, one.call, one.value):
                continue
            if statement is None:
                yield planted(kind, file, scope, (file.replaced(one.call, file.operand(one.value)),))
            else:
                yield planted(kind, file, scope, (file.replaced(statement, "pass" if _alone(file, statement) else ""),))


def _groups(file: File, flow: Flow) -> Iterator[list[Move]]:
    """Moves to one place of different values, in one block or one statement."""
    blocks: dict[tuple[int, str], list[Move]] = {}
    for one in moves(flow):
        statement: ast.AST = one.call
        while not isinstance(statement, ast.stmt):
            statement = file.parents[statement]
        if isinstance(statement, ast.Expr | ast.Assign):
            moves_itself = statement.value is one.call and (
                isinstance(statement, ast.Expr)
                or [ast.unparse(t) for t in statement.targets] == [ast.unparse(one.value)]
            )
            key = id(file.parents[statement]) if moves_itself else id(statement)
            if not isinstance(statement, ast.Expr) or statement.value is not one.call or _is_module(flow, one.value):
                blocks.setdefault((key, one.device), []).append(one)
    for group in blocks.values():
        values = {ast.dump(one.value) for one in group}
        plain = all(isinstance(one.value, ast.Name | ast.Attribute | ast.Subscript) for one in group)
        if len(values) == len(group) >= 2 and plain:
            yield group


def _is_module(flow: Flow, node: ast.expr) -> bool:
    """Whether a move in place moves anything: the value is called, or has what modules have."""
    text = ast.unparse(node)
    return any(
        (isinstance(n, ast.Call) and ast.unparse(n.func) == text)
        or (isinstance(n, ast.Attribute) and n.attr in _ATTRIBUTES_OF_MODULES and ast.unparse(n.value) == text)
        for n in flow.nodes
    )


def _own_statement(file: File, one: Move) -> ast.stmt | None:
    """The statement that does nothing but this move."""
    parent = file.parents[one.call]
    if isinstance(parent, ast.Expr) and not isinstance(file.parents[parent], ast.Lambda):
        return parent
    if isinstance(parent, ast.Assign) and [ast.unparse(t) for t in parent.targets] == [ast.unparse(one.value)]:
        return parent
    return None


def _alone(file: File, statement: ast.stmt) -> bool:
    """Always written as ``pass`` where a block or a line would be left empty or broken."""
    lines = file.data.splitlines()
    text = file.text(statement)
    return lines[statement.lineno - 1].decode().strip() != text or any(
        isinstance(body, list) and body == [statement]
        for body in (
            getattr(file.parents[statement], name, None) for name in ("body", "orelse", "finalbody", "handlers")
        )
    )


def _is_label(file: File, scope: Scope, flow: Flow, one: Move, group: list[Move]) -> bool:
    if not isinstance(one.value, ast.Name) or not _LABEL.search(one.value.id):
        return False
    others = {other.value.id for other in group if isinstance(other.value, ast.Name)} - {one.value.id}
    step = re.search(r"(train|valid|eval|test|step|fit|epoch)", scope.node.name) is not None
    for node in flow.nodes:
        target = None
        if isinstance(node, ast.For) and (step or is_loader(file, node.iter)):
            target = node.target
        elif isinstance(node, ast.Assign) and step:
            target = node.targets[0]
        if isinstance(target, ast.Tuple):
            names = {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
            if one.value.id in names and names & others:
                return True
    return False


def is_tensor(flow: Flow, name: str) -> bool:
    """Whether a name is surely a tensor, by annotation, by what makes it, or by how it is used."""
    tensor = False
    for node in flow.nodes:
        match node:
            case ast.arg(arg=arg, annotation=ast.expr() as annotation) if arg == name:
                tensor = tensor or is_tensor_type(annotation)
            case ast.Attribute(value=ast.Name(id=used), attr=attr) if used == name:
                if attr in _ATTRIBUTES_OF_MODULES:
                    return False
                tensor = tensor or attr in _ATTRIBUTES_OF_TENSORS
            case ast.Call(func=ast.Name(id=used)) if used == name:
                return False
            case ast.Call() if (
                flow.is_operation(node) and flow.file.dotted(node.func) != "torch.nn.functional.has_torch_function"
            ):
                tensor = tensor or any(isinstance(a, ast.Name) and a.id == name for a in node.args)
    return tensor


def _registers(flow: Flow, node: ast.AST) -> bool:
    """``self.register_buffer("gain", gain)``, ``nn.Parameter(gain)``: from then on the module moves it."""
    if not isinstance(node, ast.Call):
        return False
    method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    return method in ("register_buffer", "register_parameter") or flow.file.dotted(node.func) == "torch.nn.Parameter"


def _read_after(flow: Flow, name: str, statement: ast.stmt) -> bool:
    """Whether a name is read below a statement, other than for what does not depend on its place."""
    end = statement.end_lineno or statement.lineno
    for node in flow.nodes:
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load) and node.lineno > end:
            parent = flow.file.parents[node]
            placeless = isinstance(parent, ast.Attribute) and parent.attr in (
                "shape", "size", "dtype", "ndim", "dim", "to", "cpu"
            )  # fmt: skip
            if not placeless and not _registers(flow, parent):
                return True
    return False
