"""From overloads to the rows of aten.json and operations.json."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torchgen.model import BaseTy, BaseType, ListType, Type  # type: ignore[import-untyped]

from devlint.semantics import tables
from devlint.semantics.generate.aten import Overload
from devlint.semantics.generate.names import PythonName, parameters
from devlint.semantics.operation import Parameter

Row = dict[str, Any]

FINAL = ("exact_same", "tensor_iterator", "own_check")
"""Rules of kernels; any other class must be judged by what the composite calls."""


def aten_rows(overloads: dict[str, Overload], scalars: dict[str, list[str]]) -> dict[str, Row]:
    """One row for each overload with two tensors, a list, or a fact written by hand."""
    by_hand = tables.rows("aten_by_hand")
    found: dict[str, Row] = {}
    later: list[str] = []
    for name, overload in sorted(overloads.items()):
        arguments = overload.function.func.arguments
        lists = any(a.type.is_tensor_like() and a.type.is_list_like() for a in arguments.flat_all)
        if len(overload.tensors) < 2 and not lists and name not in by_hand:
            continue
        row: Row = {"rule": overload.rule, "tensors": " ".join(overload.tensors)}
        if overload.rule == "tensor_iterator":
            inputs = scalars.get(_functional(name, scalars), [])
            written = {a.name for a in arguments.out} | ({"self"} if _in_place(overload) else set())
            row["zero_dim"] = " ".join(p for p in inputs if p not in written)
            row["clash"] = "mismatch_iterator"
        if name.startswith("_foreach_") and overload.rule == "own_check":
            row |= {"rule": "pairwise", "clash": "mismatch_iterator"}
            later.append(name)
        row |= _fields(by_hand.get(name, {}))
        if _in_place(overload):
            row["in_place"] = True
        found[name] = {k: v for k, v in row.items() if v != ""}
    for name in later:
        found[name] = {**_as_pairs(name, found[name], found), **_fields(by_hand.get(name, {}))}
    return found


def _fields(row: Row) -> Row:
    return {k: v for k, v in row.items() if k != "why"}


def _as_pairs(name: str, row: Row, found: dict[str, Row]) -> Row:
    """A `_foreach_` overload with what a pair of its tensors is asked: the check of the operation it is named after."""
    base, _, overload = name.removeprefix("_foreach_").partition(".")
    words = {"List": ("Tensor", "Tensor_Tensor", ""), "ScalarList": ("Scalar", ""), "Tensor": ("Tensor", "")}
    tries = [f"{base}.{word}".rstrip(".") for word in words.get(overload, (overload,))] + [base]
    pair: Row = next((found[t] for t in tries if t in found), {})
    lists = row["tensors"].split()
    rename: dict[str, str] = dict(zip(pair.get("tensors", "").split(), lists, strict=False))
    made: Row = {**row, **{key: pair[key] for key in ("clash", "scalar_clash") if key in pair}}
    zero_dim = " ".join(rename[role] for role in pair.get("zero_dim", "").split() if role in rename)
    if len(lists) > 1:
        # Below Python no overload reads a tensor as a number.
        made["scalar_is_operand"] = True
    return {**made, "zero_dim": zero_dim} if zero_dim else made


def _in_place(overload: Overload) -> bool:
    return bool(overload.function.func.name.name.inplace)


def _functional(name: str, scalars: dict[str, list[str]]) -> str:
    """The measured overload an in-place or `out=` overload stands for."""
    base, _, overload = name.partition(".")
    base = base.removesuffix("_") if not base.endswith("__") else base
    tries = [f"{base}.{overload}", base, f"{base}.Tensor", f"{base}.{overload.removesuffix('_out')}"]
    tries += [f"{base}.Tensor_mode"] if overload == "out_mode" else []
    return next((t for t in tries if t in scalars), name)


def python_row(name: PythonName, aten: dict[str, Row]) -> Row:
    """The row of one Python name as far as the yaml alone says; composites come out with the rule "unknown"."""
    judged = [o for o in name.functional() if o.name in aten]
    row: Row = {"parameters": encode(parameters(name))}
    if not judged:
        row["rule"] = "exact_same"
    else:
        chosen = max(judged, key=lambda o: len(o.tensors))
        found = aten[chosen.name]
        row |= {k: v for k, v in found.items() if k not in ("tensors", "tag")}
        for key in ("zero_dim", "cpu_arguments", "free"):
            if key in found:
                row[key] = " ".join(name.rename(a) for a in found[key].split())
        row["basis"] = chosen.name
        if found.get("tag", "D") != "D":
            row["tag"] = found["tag"]
        if found["rule"] not in FINAL and found["rule"].startswith(("composite", "no_cuda")):
            row["rule"] = "unknown"
        if "scalar_is_operand" in found and not _parsed_as_tensor(name):
            del row["scalar_is_operand"]
    row |= _result(name)
    return row


def _parsed_as_tensor(name: PythonName) -> bool:
    """Whether Python takes a 0-dim tensor for the overload of a tensor, not for that of a number.

    Of two overloads with parameters alike the parser asks the one of a tensor first; `_foreach_add.Tensor` has an
    `alpha` too many and comes after `_foreach_add.Scalar` (sort_overloads in tools/autograd/gen_python_functions.py).
    """
    sizes = {o.name.partition(".")[2]: len(o.function.func.arguments.flat_all) for o in name.functional()}
    return "Tensor" in sizes and sizes["Tensor"] == sizes.get("Scalar")


def _result(name: PythonName) -> Row:
    """Class of the result from the schema: tensors, tuples, plain values."""
    functional = name.functional()
    tuples = [o for o in functional if _is_tuple(o)]
    row: Row = {}
    if _in_place(functional[0]) or (name.is_method and name.name.endswith("_") and not name.name.endswith("__")):
        row = {"in_place": True, "result": "self", "shape": "same"}
    elif all(not o.function.func.returns for o in functional):
        row = {"result": "nothing"}
    elif all(not any(r.type.is_tensor_like() for r in o.function.func.returns) for o in functional):
        row = {"result": "host"}
    if tuples and len(tuples) == len(functional):
        row["tuple"] = True
    elif tuples:
        others = {a.name for o in functional if o not in tuples for a in o.function.func.arguments.flat_all}
        own = {a.name for o in tuples for a in o.function.func.arguments.flat_all}
        row["tuple_with"] = " ".join(sorted(own - others))
    return row


def _is_tuple(overload: Overload) -> bool:
    returns = overload.function.func.returns
    return len(returns) > 1 or any(_is_tensor_list(r.type) for r in returns)


def _is_tensor_list(kind: Type) -> bool:
    return isinstance(kind, ListType) and kind.elem == BaseType(BaseTy.Tensor)


def encode(found: Iterable[Parameter]) -> str:
    """Parameters in one line: `input other|dim -keepdim * out`; `-` no tensor, `[]` a list of tensors."""
    words: list[str] = []
    for parameter in found:
        if parameter.keyword_only and "*" not in words:
            words.append("*")
        names = "|".join((parameter.name, *parameter.also))
        words.append({"tensor": "", "tensors": "[]", "other": "-"}[parameter.kind] + names)
    return " ".join(words)
