"""A library changes the default or the current device of the whole process and never puts it back.

## What it does

Finds `torch.set_default_device`, `torch.set_default_tensor_type` to an accelerator's type and `torch.cuda.set_device`
in library code: where the module is imported, or inside a function or constructor that does not restore what it found.

## Why is this bad

The setting belongs to the process, not to the library. After the import or the call, every factory without `device=`
in everybody else's code allocates somewhere else, and every `.cuda()` means another GPU. What breaks is far from the
line that did it: `DataLoader` workers, `randperm` with a CPU generator, code that relied on the CPU.

## Example

```python
import torch


class Tagger:
    def __init__(self, device: torch.device) -> None:
        torch.set_default_device(device)
        self.scores = torch.zeros(8)
```

## Use instead

```python
import torch


class Tagger:
    def __init__(self, device: torch.device) -> None:
        with torch.device(device):
            self.scores = torch.zeros(8)
```

## When it is right

- Context managers: `with torch.device(d):`, `with torch.cuda.device(d):`.
- A function that sets it back, and classes with an `__exit__`.
- Scripts, notebooks, tests and benchmarks.
- Setting the CPU, which is what everybody expects.
- Functions that are there to set it: low. They say so (`set_device`, `init_distributed`, `launch`, `to_gpu`), they
  take a rank, or they work with `torch.distributed` or wrap a model for it; one process per device needs its device
  set once. So do those that a thread or process of the file begins with, and lines under `if set_device:`.
- The current device of a function's own process, `torch.cuda.set_device(gpu)`: it works on one card, as a rule, and so
  do those who call it. The confidence is low, if it is not set while the module is imported.

## Fix safety

A suggestion: a context manager around the rest of the block. What else of the program relied on the setting has to say
so itself. There is no edit at the top level of a module, where every importer may rely on it, none where nothing
follows in the block, none for a default tensor type, which no context manager stands for, and none in a function that
is there to set it.

## How a run confirms it

The default and the current device are read before and after the import or the call.

## Known problems

A function that sets the device for a thread of its own is reported where nothing in the file hands it to a thread: the
current device belongs to the thread, which is not seen then.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint import semantics
from devlint.drafts.changes import IndentRest
from devlint.drafts.draft import Draft, Repair
from devlint.drafts.wording import code_of, quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.abstract_values import Constant, DeviceName, Reference
from devlint.placement.domain.lattice import exclude, may_be_cpu
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.device_words import is_named_for_accelerator
from devlint.rules.rule import Rule
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import ClassInfo
    from devlint.placement.domain.events import Begun, Called
    from devlint.placement.domain.scope import Scope

SETTERS = frozenset(
    """
    set setup init initialize launch main worker spawn rank ranks distributed dist ddp select configure loop thread
    use seed prepare bind
    """.split()
)
"""Words in the name of a function that is there to set the device, or that owns its process or thread."""

_OF_GROUPS = ("init_process_group", "DistributedDataParallel")
"""Endings of calls in functions that have one process for each device."""

_HANDS_OVER = frozenset({"submit", "thread", "executor", "spawn", "async"})
"""Words in the name of what runs a function in a thread or process of its own: `pool.submit`, `run_in_executor`."""

_CURRENT = "the current device"
"""What `set_device` sets, in the words of the table; the others set the default for all that is created."""

THREADS = frozenset({"threading.Thread", "multiprocessing.Process", "torch.multiprocessing.Process"})


class DefaultDeviceSideEffect(Rule):
    code = "DEV307"
    name = "default-device-side-effect"
    severity = Severity.WARNING

    def __init__(self) -> None:
        self._calls: list[Called] = []
        self._distributed: set[str] = set()
        """Definitions that set up or use a group of processes."""
        self._mains: set[str] = set()
        """What threads and processes are started with, by its last name."""
        self._leaves: set[str] = set()
        """Definitions of classes that are entered and left."""

    @staticmethod
    def wakes_at_call(name: str) -> bool:
        return semantics.process_setting(name) is not None

    def begun(self, event: Begun) -> Iterable[Draft]:
        if event.owner is not None and event.owner.defines("__exit__", "__aexit__", "tearDown"):
            self._leaves.add(event.scope.qualname)
        if event.owner is not None and _is_thread(event.owner) and event.scope.qualname.endswith(".run"):
            # CUDA's current device belongs to the thread, which ends with `run`.
            self._leaves.add(event.scope.qualname)
        if any("rank" in name.lower() for name, _ in event.arguments):
            self._distributed.add(event.scope.qualname)
        return ()

    def called(self, event: Called) -> Iterable[Draft]:
        if event.name in THREADS or event.name == ".Process":
            target = event.call.keyword("target")
            if target is not None:
                self._mains.add(code_of(target.node).rsplit(".", 1)[-1])
        elif not _HANDS_OVER.isdisjoint(event.name.rsplit(".", 1)[-1].split("_")):
            self._mains.update(code_of(argument.node).rsplit(".", 1)[-1] for argument in event.call.arguments)
        if event.name.startswith("torch.distributed.") or event.name.endswith(_OF_GROUPS):
            self._distributed.add(event.scope.qualname)
        elif event.scope.role is Role.LIBRARY and semantics.process_setting(event.name) is not None:
            self._calls.append(event)
        return ()

    def finish(self) -> Iterable[Draft]:
        for call in self._calls:
            draft = self._draft(call)
            if draft is not None:
                yield draft

    def _draft(self, call: Called) -> Draft | None:
        setting = semantics.process_setting(call.name)
        assert setting is not None
        sets, argument = setting
        given = call.call.argument(argument, 0)
        if given is None or _is_harmless(given.value) or call.scope.qualname in self._leaves or self._restored(call):
            return None
        at_import = call.scope.setting is Setting.MODULE_LEVEL and not call.scope.qualname
        when = "on import" if at_import else f"in `{call.scope.qualname}`"
        device = code_of(given.node)
        clear = not (self._is_set_up(call.scope, device) or _is_asked_for(call) or _is_of_the_process(call, device))
        sure = clear and not (call.name.endswith("tensor_type") and not _is_accelerators_type(given.value))
        # What works on one card sets it for itself as a rule; of 28 such findings that readers judged ten were true.
        likely = sure and (at_import or sets != _CURRENT)
        return Draft(
            node=call.node,
            scope=call.scope,
            message=f"{quoted(call.node, f'`{call.name}`')} changes {sets} of the whole process {when}, and nothing "
            "sets it back",
            confidence=Confidence.MEDIUM if likely else Confidence.LOW,
            repair=Repair(Applicability.SUGGESTION, _instead(call.name), _for_the_rest(call) if sure else ()),
        )

    def _restored(self, call: Called) -> bool:
        """Another call on the same path puts back what was found, or the CPU (fixture `put_back`)."""
        return any(
            other is not call
            and other.name == call.name
            and other.scope == call.scope
            and not exclude(other.arms, call.arms)
            and (_puts_back(other) or _puts_back(call))
            for other in self._calls
        )

    def _is_set_up(self, scope: Scope, device: str) -> bool:
        """A function that exists to set the device (fixture `set_up`), or that a thread or process begins with."""
        name = scope.qualname.rsplit(".", 1)[-1]
        if name in self._mains:
            return True
        words = set() if name.startswith("__") else set(name.lower().strip("_").split("_"))
        there_for_it = bool(words & SETTERS) or is_named_for_accelerator(name)
        return there_for_it or "rank" in device.lower() or scope.qualname in self._distributed


def _is_of_the_process(call: Called, device: str) -> bool:
    """`torch.cuda.set_device(self.gpu)`: the object may be made for a process of its own, whose device it keeps.

    Of five such findings two were true (fixture `devices_of_objects_low`).
    """
    return call.name.endswith("set_device") and "self." in device


def _is_asked_for(call: Called) -> bool:
    """`if set_device:`: the line is there for those who ask for it."""
    return any(arm.holds and arm.guard.text.lower().startswith("set_") for arm in call.arms)


def _is_thread(owner: ClassInfo) -> bool:
    return any(base in THREADS for info in owner.order for base in info.bases if isinstance(base, str))


def _puts_back(call: Called) -> bool:
    """Two devices spelled out are two choices; there and back needs a name for what was found, or the CPU."""
    import libcst as cst

    given = call.call.positional[0] if call.call.positional else None
    return given is not None and (isinstance(given.node, (cst.Name, cst.Attribute)) or _is_harmless(given.value))


def _is_harmless(value: object) -> bool:
    """The CPU, None, and -1, which does nothing."""
    if isinstance(value, Constant):
        return value.value in (None, "cpu", -1) or ("cuda" not in str(value.value) and not isinstance(value.value, int))
    if isinstance(value, Reference):
        return "cuda" not in value.name
    return isinstance(value, DeviceName) and may_be_cpu(value.device) and not value.chosen_by_probe


def _is_accelerators_type(value: object) -> bool:
    if isinstance(value, Constant):
        return "cuda" in str(value.value)
    return isinstance(value, Reference) and "cuda" in value.name


_CONTEXTS = {"set_default_device": "device", "set_device": "device"}
"""What a library calls the context manager of each setting, beside the setting itself."""


def _for_the_rest(call: Called) -> tuple[IndentRest, ...]:
    import libcst as cst

    function, given = call.call.node.func, call.call.node.args
    if not isinstance(function, cst.Attribute) or len(given) != 1:
        return ()
    context = _CONTEXTS.get(function.attr.value)
    if context is None or call.name.startswith("torch.accelerator."):
        return ()
    header = f"with {code_of(function.value)}.{context}({code_of(given[0].value)}):"
    return (IndentRest(call.node, header),)


def _instead(name: str) -> str:
    if name.endswith("set_device") or "accelerator" in name:
        return "use `with torch.cuda.device(...):`, or name the device where it is needed"
    return "use `with torch.device(...):`, or pass `device=` to the factories"
