"""The one judge: may these operands meet in this operation?

`meet` never looks inside a device: it calls the caller's `relate`. Whatever depends on an unknown dim, dtype or device
ends in `Unclear`, which is never reported. The rules and their sources are in tables/README.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from devlint.semantics.case import Case, first_clash, one_device
from devlint.semantics.indexing import index_read, index_write, masked_fill
from devlint.semantics.iterator import broadcast_first, pairwise, tensor_iterator, where
from devlint.semantics.operand import Clash, Meets, Operand, Relate, Relation, Unclear, Verdict
from devlint.semantics.operation import Dim, Operation, Rule

D = TypeVar("D")


def meet(operation: Operation, operands: Sequence[Operand[D]], relate: Relate[D], cpu: D) -> Verdict[D]:
    """Judge one call.

    `operands` are the tensor arguments in call order, the elements of a list one by one under the list's name; other
    arguments are omitted. `cpu` is the caller's CPU device. A `torch.Generator` is an operand of the role "generator".
    """
    everything = range(len(operands))
    generators = [i for i in everything if operands[i].role == "generator"]
    on_host = [i for i in everything if operands[i].role in operation.cpu_arguments]
    free = [i for i in everything if operands[i].role in operation.free_arguments]
    written = [i for i in on_host if operands[i].role == "out"]
    rest = [i for i in everything if i in written or i not in (*generators, *on_host, *free)]
    case = Case(operation, tuple(operands), relate, cpu)
    # Where every tensor must be on the CPU, that is where they meet.
    main: Verdict[D] = _judge(case, rest) if rest or not on_host else Meets(cpu)
    if isinstance(main, Clash) and any(_sometimes_passes(case, i) for i in (main.operand, main.other)):
        main = Unclear("a 0-dim tensor passes there with some shapes of the others")
    verdict = first_clash(main, _must_be_on_cpu(case, on_host), _generator(case, generators, rest))
    out = next((o for o in operands if o.role == "out"), None)
    return Meets(out.device) if isinstance(verdict, Meets) and out is not None else verdict


def _sometimes_passes(case: Case[D], i: int | None) -> bool:
    """Whether what is refused may be 0-dim at a position where such a tensor sometimes passes.

    Where one on the CPU always does, sometimes means one from elsewhere.
    """
    if i is None or case.operands[i].role not in case.operation.zero_dim_sometimes:
        return False
    if case.operands[i].role not in case.operation.zero_dim and case.on_cpu(i) is Relation.DIFFERENT:
        return False
    expanded = case.operation.rule in (Rule.BROADCAST_FIRST, Rule.BROADCAST_WHERE)
    asked = case.operands if expanded else [case.operands[i]]
    return all(operand.dim is not Dim.NONZERO for operand in asked)


def _judge(case: Case[D], indices: list[int]) -> Verdict[D]:
    """The operation's own rule over the operands at `indices`."""
    if not indices:
        return Meets(None)
    ordered = case.checking_order(indices)
    match case.operation.rule:
        case Rule.EXACT_SAME | Rule.OWN_CHECK | Rule.CONV:
            return one_device(case, ordered)
        case Rule.TENSOR_ITERATOR:
            return tensor_iterator(case, ordered)
        case Rule.BROADCAST_FIRST | Rule.BROADCAST_WHERE:
            return broadcast_first(case, ordered)
        case Rule.WHERE:
            return where(case, ordered)
        case Rule.ANY_DEVICE:
            return Meets(case.operands[indices[0]].device)
        case Rule.INDEX_READ:
            return index_read(case, indices)
        case Rule.INDEX_WRITE | Rule.INDEX_PUT:
            return index_write(case, indices)
        case Rule.MASKED_FILL:
            return masked_fill(case, ordered)
        case Rule.PAIRWISE:
            return pairwise(case, indices)
        case Rule.UNKNOWN:
            agreed = one_device(case, ordered)
            return agreed if isinstance(agreed, Meets) else Unclear(f"the check of {case.operation.name} is not known")


def _must_be_on_cpu(case: Case[D], indices: list[int]) -> Verdict[D]:
    """Arguments such as the lengths of pack_padded_sequence, read on the host."""
    verdict: Verdict[D] = Meets(None)
    for i in indices:
        match case.on_cpu(i):
            case Relation.DIFFERENT:
                role = case.operands[i].role
                return Clash(case.operation.clash, i, None, f"{case.operation.name}: {role} must be on the CPU")
            case Relation.UNKNOWN:
                verdict = Unclear("an argument that must be on the CPU may be elsewhere")
            case Relation.SAME:
                pass
    return verdict


def _generator(case: Case[D], generators: list[int], rest: list[int]) -> Verdict[D]:
    """A generator must have the device type of the tensor it fills (kind generator); its index is not compared."""
    for i in generators:
        for j in rest:
            if {case.on_cpu(i), case.on_cpu(j)} == {Relation.SAME, Relation.DIFFERENT}:
                return Clash("generator", i, j, f"{case.operation.name}: the generator is on another device")
    return Meets(None)
