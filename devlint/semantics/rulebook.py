"""Looking facts up by the name a program uses: functions, methods, operators, modules, attributes, transfers.

Facts written by hand (`*_by_hand.json`) take precedence over generated ones. Every result is cached, tables are read on
first use, and torch is never imported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Literal

from devlint.semantics import library_models, tables
from devlint.semantics.operation import (
    DType,
    Factory,
    ModuleInfo,
    Operation,
    Parameter,
    Result,
    Rule,
    Shape,
    Transfer,
)


@cache
def function(qualified: str) -> Operation | Factory | None:
    """What a function does, by its full name ("torch.add", "torchvision.ops.nms"); None when unknown.

    An unbound method ("torch.Tensor.add") is the method, "torch.ops.aten.add.Tensor" the overload.
    """
    if qualified.startswith("torch.ops.aten."):
        return aten(qualified.removeprefix("torch.ops.aten.").removesuffix(".default"))
    if qualified.startswith("torch.Tensor."):
        return method(qualified.removeprefix("torch.Tensor."))
    if qualified.startswith("torchvision."):
        return _of_torchvision(qualified)
    known = _call(qualified) if qualified.startswith("torch.") else None
    return known if known is not None else _of_library(qualified)


@cache
def method(name: str) -> Operation | Factory | None:
    """What a method of torch.Tensor does, by its bare name ("add_", "new_zeros"); None when unknown."""
    return _call(f"Tensor.{name}")


@cache
def operator(symbol: str) -> Operation:
    """What a Python operator on tensors does: "+", "+=", "@", "==", unary "neg", "[]" and "[]="."""
    row = tables.row("operators", symbol)
    if row is None:
        return Operation(f"operator.{symbol}", Rule.UNKNOWN, result=Result.UNKNOWN)
    if "method" not in row:
        return _operation(row["name"], row)
    found = method(row["method"])
    assert isinstance(found, Operation), row["method"]
    return _operation(row["name"], _row(f"Tensor.{row['method']}") or {})


@cache
def aten(overload: str) -> Operation:
    """What an aten overload does ("add.Tensor", "copy_"), for a reader that sees the dispatcher.

    A composite has the rule EXACT_SAME here: what it calls is not seen again. So has a name the table does not hold:
    one without two tensors to meet, or a kernel of the CPU build such as `mkldnn_linear`.
    """
    return aten_operation(overload, tables.row("aten", overload))


def aten_operation(overload: str, row: tables.Row | None) -> Operation:
    """The operation of one row of aten.json."""
    row = row or {"rule": "exact_same", "tensors": "self"}
    rule = row["rule"] if row["rule"] in {r.value for r in Rule} else "exact_same"
    return _operation(f"aten.{overload}", {**row, "parameters": row["tensors"], "rule": rule})


@cache
def module(qualified: str) -> ModuleInfo | None:
    """What is known of a `torch.nn` class, by its full name or that of the file that defines it; None when unknown."""
    if qualified.startswith("torch.nn.modules."):
        return module(f"torch.nn.{qualified.rsplit('.', 1)[-1]}")
    row = tables.row("modules", qualified)
    if row is None:
        return None
    twin = function(row["function"]) if "function" in row else None
    operands = tuple(row.get("operands", "input").split())
    return ModuleInfo(
        name=qualified,
        holds_state=row["state"],
        loss=row.get("loss", False),
        call_operation=_as_called(twin, operands) if isinstance(twin, Operation) else None,
        returns=row.get("returns", "tensor"),
        operands=operands,
        container=row.get("container", False),
        holds_parameters=row.get("items") == "parameters",
        keyed=row.get("keyed", False),
        state_with=frozenset(row.get("state_with", "").split()),
        stateless_without=frozenset(row.get("stateless_without", "").split()),
    )


@cache
def is_tensor_attribute(name: str) -> Literal["tensor", "host"] | None:
    """Whether this attribute of a tensor is a tensor or a plain value; None for methods and unknown names."""
    found: Literal["tensor", "host"] | None = tables.rows("attributes").get(name)
    return found


@cache
def transfer(receiver: str, method_name: str) -> Transfer | None:
    """What `receiver.method()` does to its receiver, by the class's full name; None when unknown."""
    for row in tables.rows("transfers").values():
        if receiver in row["receivers"] and method_name in row["methods"]:
            return Transfer(receiver, method_name, row["effect"], row["discard_is_bug"], row["tag"])
    moves = library_models.moves(receiver, method_name)
    return None if moves is None else Transfer(receiver, method_name, moves.effect, moves.discard_is_bug, moves.tag)


@cache
def lacks(class_name: str, method: str) -> bool:
    """Whether objects of a class, by its full name, are known to have no transfer of that name."""
    known = transfer(class_name, method)
    return known is not None and known.effect == "missing"


@cache
def is_immovable(class_name: str) -> bool:
    """Whether what is said to be of a class, by its full name, has no transfer: no class of its own adds one."""
    rows = tables.rows("transfers").values()
    return any(class_name in row["receivers"] and row.get("derived") is False for row in rows)


@cache
def is_device_probe(qualified: str) -> bool:
    """Whether the name is a function that tests for devices, and so is always true when it is not called."""
    return qualified in tables.rows("probes")


@cache
def raises_without(qualified: str) -> str | None:
    """The kind of accelerator (``CUDA``) without which a function raises; None for what asks, or runs without."""
    row = tables.row("refusals", qualified)
    return None if row is None else str(row["without"])


@cache
def probe_for(kind: str) -> str:
    """The function that says whether a kind of accelerator is there: ``torch.cuda.is_available`` of ``CUDA``.

    Raises `StopIteration` for a kind that no row of `refusals` names.
    """
    return next(name for name, row in tables.rows("probes").items() if row.get("asks_for") == kind)


@cache
def refused_device(qualified: str) -> int | None:
    """The position of the argument ``device`` of a function that raises where that is the CPU; None for others."""
    row = tables.row("refusals", qualified)
    return None if row is None else row.get("device")


@cache
def process_setting(qualified: str) -> tuple[str, str] | None:
    """The process-wide setting of a function, and the argument that names the device; None if it sets nothing."""
    row = tables.row("settings", qualified)
    return None if row is None else (row["sets"], row["argument"])


def _as_called(twin: Operation, operands: tuple[str, ...]) -> Operation:
    """The function behind a module with its first parameters named as `forward` names them."""
    names = dict(zip((p.name for p in twin.parameters), operands, strict=False))
    renamed = tuple(replace(p, name=names.get(p.name, p.name)) for p in twin.parameters)
    return replace(twin, parameters=renamed, zero_dim=frozenset(names.get(r, r) for r in twin.zero_dim))


def _call(name: str) -> Operation | Factory | None:
    factory = tables.row("factories", name)
    if factory is not None:
        return _factory(name, factory)
    row = _row(name)
    return None if row is None else _operation(name, row)


def _of_torchvision(qualified: str) -> Operation | None:
    """By the public name: the file that defines a function and the second version of the transforms name it as well."""
    package, _, last = qualified.rpartition(".")
    if package.startswith("torchvision.ops."):
        package = "torchvision.ops"
    name = f"{package.replace('.v2.', '.')}.{last}"
    row = tables.row("torchvision_by_hand", name)
    return _of_library(qualified) if row is None else _operation(name, row)


def _of_library(qualified: str) -> Operation | None:
    """By the table of its library; what the row does not say is as for most functions."""
    row = library_models.operation(qualified)
    return None if row is None else _operation(qualified, {"rule": "exact_same", **row})


def _row(name: str) -> tables.Row | None:
    by_hand = tables.row("operations_by_hand", name)
    generated = tables.row("operations", name)
    return generated if by_hand is None else {**(generated or {}), **by_hand}


def _operation(name: str, row: tables.Row) -> Operation:
    def words(key: str) -> frozenset[str]:
        return frozenset(row.get(key, "").split())

    return Operation(
        name=name,
        rule=Rule(row["rule"]),
        parameters=tuple(_parameters(row["parameters"])),
        zero_dim=words("zero_dim"),
        zero_dim_sometimes=words("zero_dim_sometimes"),
        stepwise=row.get("steps", False),
        scalar_is_operand=row.get("scalar_is_operand", False),
        order=tuple(row.get("order", "").split()),
        cpu_arguments=words("cpu_arguments"),
        free_arguments=words("free"),
        in_place=row.get("in_place", False),
        result=Result(row.get("result", "operands")),
        shape=Shape(row.get("shape", "unknown")),
        returns_tuple=row.get("tuple", False),
        synchronises=row.get("sync", False),
        tuple_with=words("tuple_with"),
        tuple_without=words("tuple_without"),
        reduced_by=words("reduced_by"),
        result_dtype=DType(row.get("dtype", "unknown")),
        clash=row.get("clash", "mismatch_exact"),
        scalar_clash=row.get("scalar_clash", ""),
        provenance=row.get("tag", "D"),
        basis=row.get("basis", ""),
    )


def _parameters(encoded: str) -> Iterator[Parameter]:
    """`input other|dim -keepdim * out`: `-` no tensor, `[]` a list of tensors, after `*` by keyword only."""
    keyword_only = False
    for word in encoded.split():
        if word == "*":
            keyword_only = True
            continue
        kind: Literal["tensor", "tensors", "other"] = "tensor"
        if word.startswith("-"):
            word, kind = word[1:], "other"
        elif word.startswith("[]"):
            word, kind = word[2:], "tensors"
        name, *also = word.split("|")
        yield Parameter(name, kind, keyword_only, tuple(also))


def _factory(name: str, row: tables.Row) -> Factory:
    positional, _, keywords = row.get("parameters", "").partition(" * ")
    return Factory(
        name=name,
        takes_device=row["takes_device"],
        default=row["default"],
        follows_context=bool(row["context"]),
        random=row.get("random", False),
        legacy=row.get("legacy", False),
        makes=row.get("makes", ""),
        shape=Shape(row.get("shape", "unknown")),
        dtype=DType(row.get("dtype", "unknown")),
        parameters=tuple(positional.split()) + tuple(keywords.split()),
        keyword_only=frozenset(keywords.split()),
        reads_bounds=row.get("reads_bounds", False),
        with_tensors=_operation(name, _row(name) or {}) if "with_tensors" in row else None,
        provenance=row.get("tag", "M"),
    )
