"""One call to be judged: its operation, its operands, and the caller's relation of devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Generic, TypeVar

from devlint.semantics.operand import Clash, Meets, Operand, Relate, Relation, Unclear, Verdict
from devlint.semantics.operation import Operation, Rule

D = TypeVar("D")


@dataclass(frozen=True, slots=True)
class Case(Generic[D]):
    """One call to be judged; operands are identified by index."""

    operation: Operation
    operands: tuple[Operand[D], ...]
    relate: Relate[D]
    cpu: D

    def related(self, i: int, j: int) -> Relation:
        return self.relate(self.operands[i].device, self.operands[j].device)

    def on_cpu(self, i: int) -> Relation:
        return self.relate(self.operands[i].device, self.cpu)

    def is_output(self, i: int) -> bool:
        """Whether the result is written into this operand."""
        role = self.operands[i].role
        return role == "out" or (self.operation.in_place and role == self.operation.parameters[0].name)

    def checking_order(self, indices: Sequence[int]) -> list[int]:
        """`out=` first, then the call's order: the order of the generated wrappers (torchgen's RegisterDispatchKey)."""
        said = {role: place for place, role in enumerate(("out", *self.operation.order))}
        return sorted(indices, key=lambda i: said.get(self.operands[i].role, len(said)))

    def clash(self, stray: int, other: int, kind: str | None = None) -> Clash[D]:
        roles = f"{self.operands[stray].role} and {self.operands[other].role}"
        message = f"{self.operation.name}: {roles} are on different devices"
        return Clash(kind or self.operation.clash, stray, other, message)

    def stray_first(self, i: int, j: int) -> tuple[int, int]:
        """The pair with the offending operand first: the one on the CPU, otherwise the later of the two."""
        return (i, j) if self.on_cpu(i) is Relation.SAME else (j, i)


def one_device(case: Case[D], ordered: Sequence[int]) -> Verdict[D]:
    """All operands on one device. The first sets the expected device; the first that differs is the offending one."""
    unclear: Verdict[D] | None = None
    for i, j in combinations(ordered, 2):
        match case.related(i, j):
            case Relation.DIFFERENT:
                # All accelerator tensors of one backend have one tensor type: the type check passes, the kernel's
                # device check fails.
                by_type = case.operation.rule is Rule.CONV and Relation.SAME in (case.on_cpu(i), case.on_cpu(j))
                kind = "mismatch_exact" if case.operation.rule is Rule.CONV and not by_type else None
                return case.clash(*(case.stray_first(i, j) if by_type else (j, i)), kind)
            case Relation.UNKNOWN:
                unclear = Unclear("the devices of two operands cannot be compared")
            case Relation.SAME:
                pass
    return unclear or Meets(case.operands[ordered[0]].device)


def first_clash(*verdicts: Verdict[D]) -> Verdict[D]:
    """The worst of several verdicts on one call: a Clash, else an Unclear, else the first."""
    for kind in (Clash, Unclear):
        for verdict in verdicts:
            if isinstance(verdict, kind):
                return verdict
    return verdicts[0]
