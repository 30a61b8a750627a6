"""Questions about a device that the caller chose: `if device != "cpu":` before `.cuda()`, part of DEV310."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.placement.syntax.device_words import is_named_for_accelerator
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.domain.events import Begun, Called, Moved, Stored
    from devlint.placement.domain.scope import Scope

_NAME = r"(?:str\()?(?P<device>(?:\w+\.)*(?:\w+_)?device)\)?"
_CUDA = r"['\"](?:cuda|xpu)['\"]"
_ELSEWHERE = tuple(
    re.compile(question)
    for question in (
        _NAME + r" != ['\"]cpu['\"]",
        r"['\"]cpu['\"] not in " + _NAME,
        # `device == "cuda"` names the current one; what only begins so may go on with an index (fixture `begins_with`).
        _CUDA + " in " + _NAME,
        _NAME + rf"\.startswith\({_CUDA}\)",
        _NAME + rf"\[:4\] == {_CUDA}",
    )
)
_ON_CPU = tuple(
    re.compile(question)
    for question in (
        _NAME + r" == ['\"]cpu['\"]",
        r"['\"]cpu['\"] in " + _NAME,
        _CUDA + " not in " + _NAME,
        _NAME + r"\.startswith\(['\"]cpu['\"]\)",
    )
)

_SETS_CURRENT = ("cuda.set_device", "accelerator.set_device_index", "cuda.device")


@dataclass(slots=True)
class ChosenByTheCaller:
    """The devices that definitions are handed, and whether one of them becomes the current device in the file."""

    _handed: dict[Scope, frozenset[str]] = field(default_factory=dict)
    _rebound: set[tuple[str, str]] = field(default_factory=set)
    _kept: dict[tuple[str | None, str], bool] = field(default_factory=dict)
    """By class and attribute: whether all that it gets is what a method was handed."""
    sets_current: bool = False
    """Whether a device becomes the current one somewhere in the file."""

    def begun(self, event: Begun) -> None:
        self._handed[event.scope] = frozenset(name for name, _ in event.arguments)

    def stored(self, event: Stored) -> None:
        import libcst as cst

        self._rebound.add((event.scope.qualname, event.target))
        if event.target.startswith("self."):
            node = event.value_node
            handed = isinstance(node, cst.Name) and node.value in self._handed.get(event.scope, frozenset())
            key = (event.scope.class_name, event.target)
            self._kept[key] = self._kept.get(key, True) and handed

    def called(self, event: Called) -> None:
        self.sets_current = self.sets_current or event.name.endswith(_SETS_CURRENT)

    def device_of(self, event: Moved) -> tuple[str, str] | None:
        """The device that a condition of the move is about, and the condition; None where it settles which one it is.

        A name that the definition fills in itself may stand for `cuda` without an index (fixture `by_name`), and a
        script's own switch takes two words as often as not.
        """
        scope = event.scope
        if scope.role is not Role.LIBRARY or is_named_for_accelerator(scope.qualname):
            return None
        for decided in reversed(event.arms):
            device = _device_in(decided.guard.text, decided.holds)
            if device is not None and self._is_handed(scope, device):
                return device, decided.guard.text
        return None

    def _is_handed(self, scope: Scope, device: str) -> bool:
        if (scope.qualname, device) in self._rebound:
            return False
        if device.startswith("self."):
            return self._kept.get((scope.class_name, device), False)
        return device.partition(".")[0] in self._handed.get(scope, frozenset())


def _device_in(question: str, holds: bool) -> str | None:
    """The device that is not the CPU where the question has this answer."""
    if " or " in question:
        return None
    if " and " in question:
        joined = re.sub(r"^\(\s*|\s*\)$", "", question).split(" and ") if holds else []
        return next((device for one in joined if (device := _device_in(one.strip(), holds)) is not None), None)
    negated = question.startswith("not ")
    asked = question.removeprefix("not ")
    questions = _ELSEWHERE if holds is not negated else _ON_CPU
    return next((found["device"] for one in questions if (found := one.fullmatch(asked)) is not None), None)
