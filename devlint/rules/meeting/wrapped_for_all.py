"""Models that are wrapped for all GPUs because there are several, whatever device was asked for: part of DEV405."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import code_of
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.abstract_values import DeviceName, Module
from devlint.placement.domain.lattice import Known, leaves
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Begun, Called, Moved
    from devlint.placement.domain.lattice import Decided

_WRAPPERS = ("torch.nn.DataParallel", "torch.nn.parallel.DataParallel")


@dataclass(slots=True)
class WrappedForAll:
    """What functions wrap, and the devices that their callers ask for."""

    _asked: dict[str, tuple[str, cst.CSTNode]] = field(default_factory=dict)
    """By definition: a device that its caller chooses, in the source's words, and where it shows."""
    _wrapped: list[Called] = field(default_factory=list)

    def begun(self, event: Begun) -> None:
        for name, value in event.arguments:
            if isinstance(value, DeviceName) and not value.is_type:
                self._asked.setdefault(event.scope.qualname, (name, event.node))

    def moved(self, event: Moved) -> None:
        named = event.named
        chosen = named is not None and isinstance(named.value, DeviceName)
        if chosen and named is not None and not any(isinstance(leaf, Known) for leaf in leaves(event.target)):
            self._asked.setdefault(event.scope.qualname, (code_of(named.node), event.node))

    def called(self, event: Called) -> None:
        if _wraps(event) and event.call.argument("device_ids", 1) is None and _counts_alone(event.arms):
            self._wrapped.append(event)

    def finish(self) -> Iterator[Draft]:
        for event in self._wrapped:
            asked = self._asked.get(event.scope.qualname)
            if asked is None:
                continue
            name, node = asked
            in_tests = event.scope.role in (Role.TEST, Role.BENCHMARK)
            yield Draft(
                node=event.node,
                scope=event.scope,
                severity=Severity.WARNING,
                message=f"several GPUs in the machine are enough to wrap the model for all, whatever `{name}` says: "
                "`DataParallel` wants it on the first one, and calling it fails where it is on the CPU or on another",
                confidence=Confidence.LOW if in_tests else Confidence.MEDIUM,
                trace=(DraftStep(node, event.scope, f"`{name}` is asked for here"),),
                repair=Repair(Applicability.SUGGESTION, f"wrap it only where `{name}` has no index"),
            )


def _wraps(event: Called) -> bool:
    """Whether it wraps: a `DataParallel`, or a class of the project that is one and takes its arguments."""
    if event.name in _WRAPPERS:
        return True
    made = event.result.info if isinstance(event.result, Module) else None
    if made is None or made.name != event.name.rpartition(".")[2]:
        return False
    return made.method("__init__") is None and any(base in _WRAPPERS for one in made.order for base in one.bases)


def _counts_alone(arms: tuple[Decided, ...]) -> bool:
    """Whether the number of GPUs decides, and nothing else that speaks of a device."""
    counting = [arm for arm in arms if "device_count()" in arm.guard.text]
    others = [arm for arm in arms if arm not in counting]
    plain = all(arm.guard.text.replace("torch.cuda.device_count()", "").strip(" ()><=01") == "" for arm in counting)
    return bool(counting) and plain and not any(_speaks(arm.guard.text) for arm in others)


def _speaks(text: str) -> bool:
    return any(word in text.lower() for word in ("device", "cuda", "gpu", "parallel"))
