"""Functions of `torch.cuda` that an object tells its device, which may be the CPU: part of DEV312.

Source: `_get_device_index` in torch/cuda/_utils.py, "Expected a cuda device, but got: cpu".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import code_of
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.abstract_values import Constant, DeviceName, Truth
from devlint.placement.domain.lattice import is_of_parameter
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.device_words import is_named_for_accelerator
from devlint.rules.naming.refused_by_cuda import falls_back, on_cpu_by_default
from devlint.rules.naming.ways_out import leaves_without, speak_of_devices
from devlint.semantics import NamedDevice, parse_device, refused_device
from devlint.source.outline import is_private
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.abstract_values import Argument, Value
    from devlint.placement.domain.events import Begun, Called, Compared, Stored
    from devlint.placement.domain.scope import Scope

_KEPT = re.compile(r"self\.\w*device\b")
_GIVEN = re.compile(r"(\w*device)(?:\.type)?")


@dataclass(slots=True)
class ToldTheCpu:
    _calls: list[tuple[Called, Argument]] = field(default_factory=list)
    _asked: dict[tuple[str, str], list[tuple[cst.CSTNode, Scope]]] = field(default_factory=dict)
    """By class and what it keeps a device under: where a method asks what that is."""
    _under_tests: set[str] = field(default_factory=set)
    """The last names of what is called where a device is asked for."""
    _leaving: set[Scope] = field(default_factory=set)
    """Constructors that raise for some devices: what they ask is answered for all methods."""
    _on_cpu_by_default: dict[str, frozenset[str]] = field(default_factory=dict)
    """By class: what its constructor takes that is the CPU for whoever gives none."""

    _answers: dict[str, set[str]] = field(default_factory=dict)
    """By class: attributes that keep an answer about devices, `self.on_gpu`, which methods ask in its stead."""
    _bodies: dict[Scope, cst.CSTNode] = field(default_factory=dict)

    def stored(self, event: Stored) -> None:
        kept = isinstance(event.value, Truth) and event.value.about_device
        if kept and event.scope.class_name is not None and event.target.startswith("self."):
            self._answers.setdefault(event.scope.class_name, set()).add(event.target)

    def begun(self, event: Begun) -> None:
        self._bodies[event.scope] = event.node
        init = event.owner.method("__init__") if event.owner is not None else None
        name = event.scope.class_name
        if event.scope.setting is Setting.CONSTRUCTION and leaves_without(event.node):
            self._leaving.add(event.scope)
        if init is not None and name is not None and name not in self._on_cpu_by_default:
            self._on_cpu_by_default[name] = on_cpu_by_default(init.header)

    def compared(self, event: Compared) -> None:
        owner = event.scope.class_name
        sides = ((event.left_node, event.right), (event.right_node, event.left))
        for node, other in sides if owner is not None else ():
            kept = self._kept_in(node, event.scope) if _names_a_type(other) else ""
            if kept and owner is not None:
                self._asked.setdefault((owner, kept), []).append((event.node, event.scope))

    def _kept_in(self, node: cst.CSTNode, scope: Scope) -> str:
        """`self.device` of `self.device.type`; of a constructor also what it keeps under the name of its argument."""
        spelled = code_of(node)
        if (kept := _KEPT.search(spelled)) is not None:
            return kept[0]
        given = _GIVEN.fullmatch(spelled) if scope.setting is Setting.CONSTRUCTION else None
        return f"self.{given[1]}" if given is not None else ""

    def called(self, event: Called) -> None:
        if event.guarded or speak_of_devices(event.arms):
            self._under_tests.add(event.name.rpartition(".")[2])
            return
        position = refused_device(event.name)
        told = event.call.argument("device", position) if position is not None and not event.on_cpu else None
        if told is not None and _KEPT.fullmatch(code_of(told.node)) and event.scope.class_name is not None:
            self._calls.append((event, told))

    def drafts(self) -> Iterator[Draft]:
        """One a method: they are mended by one question."""
        found: set[Scope] = set()
        for event, told in self._calls:
            scope, name = event.scope, event.scope.qualname.rpartition(".")[2]
            contract = scope.setting is Setting.HOST or is_named_for_accelerator(scope.qualname)
            if scope in found or contract or scope.role not in (Role.LIBRARY, Role.SCRIPT):
                continue
            # A helper's callers, in the class, may have asked (fixture `told_the_cpu`).
            if is_private(scope.qualname) or name in self._under_tests or self._asks_an_answer(scope):
                continue
            spelled = code_of(told.node)
            places = self._asked.get((scope.class_name or "", spelled), ())
            asked = next((one for one in places if one[1] != scope and one[1] not in self._leaving), None)
            way: tuple[DraftStep, ...] = ()
            if falls_back(told.value):
                when = "is where there is no accelerator"
            elif self._is_default(scope, told.value):
                when = "is by default"
            elif asked is not None:
                when, way = "may be", (DraftStep(*asked, "asked here"),)
            else:
                continue
            found.add(scope)
            yield Draft(
                node=event.node,
                scope=scope,
                message=f"`{event.name}` refuses the CPU, which `{spelled}` {when}; it raises",
                confidence=Confidence.MEDIUM,
                trace=(*way, DraftStep(event.node, scope, "raises here where it is the CPU")),
                repair=Repair(Applicability.SUGGESTION, f'ask for `{spelled}.type == "cuda"` before'),
            )

    def _asks_an_answer(self, scope: Scope) -> bool:
        answers, body = self._answers.get(scope.class_name or "", ()), self._bodies.get(scope)
        return bool(answers) and body is not None and any(answer in code_of(body) for answer in answers)

    def _is_default(self, scope: Scope, told: Value) -> bool:
        """Whether the object keeps it as its constructor took it, where it is the CPU by default."""
        device = told.device if isinstance(told, DeviceName) else None
        if not is_of_parameter(device) or ".__init__:" not in device.symbol.key:
            return False
        return device.symbol.name in self._on_cpu_by_default.get(scope.class_name or "", ())


def _names_a_type(value: Value) -> bool:
    """`"cpu"`, `torch.device("cuda")`: what a device is compared with to learn its type."""
    if isinstance(value, DeviceName):
        return bool(value.text)
    return (
        isinstance(value, Constant)
        and isinstance(value.value, str)
        and isinstance(parse_device(value.value), NamedDevice)
    )
