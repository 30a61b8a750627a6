"""The code names `cuda` where something at hand could say which device is meant.

## What it does

Finds `.cuda()`, `.to("cuda")`, `device="cuda"`, `torch.device("cuda")`, `torch.autocast("cuda")` and
`torch.amp.GradScaler("cuda")`, without an index, where something at hand says another device, or may. By what says it:

- **An argument.** The function is handed a device, a tensor or a module that it does not move itself; or what goes to
  CUDA there meets an argument in an operation that takes tensors alone; or a helper brings it there, for a caller that
  brings it to `x.device`, or where it meets an argument of the caller or a module's parameters.
- **A device in use.** The function moves something else to the device of an object, `self.device`, or to one that it,
  the function around it, or the top of the file chose by what the machine has or an option says; or another method of
  the class does, of tensors; or the file asks a function of the project, `get_device()`. At the top level of a program
  it finds what goes to CUDA behind a device that was chosen by what the machine has, and tests that choose one and name
  CUDA beside.
- **An object.** Its constructor brought its model, or what it keeps, to a device that it was told, or that the machine
  said: then it finds inputs, `self.model(rows.cuda())`, parts, `self.model.cuda()`, and what meets the rest. It keeps
  something on the current accelerator from its constructor on, in a library, and a method meets that with tensors of
  its caller.
- **A module.** In its methods, tensors that go there because the machine has an accelerator, or to a `device` that the
  method, or another file of the library while it was imported, `settings.device`, chose by what the machine has,
  wherever the module is (in functions of a library: wherever the tensors are that they are handed and do not move);
  what its constructor puts there, itself included, whatever becomes of the module; `device="cuda"` as the default of a
  method whose tensors meet the parameters.
- **A model that a caller hands in.** Inputs go to the machine's accelerator, and the file never moves the model, or
  moves it on a condition alone, `if args.gpu >= 0: model.cuda()`, or a caller brings it to a device that was chosen.
- **Those who ask.** The class asks an attribute of its own, `if self.use_cuda:`, before it moves something, and in
  another public method asks nobody; the function moves one thing where the machine has an accelerator, and another
  whatever it has; an object brings its model there only where there is one, and its inputs in any case.
- **The CPU, where it is meant.** `.cuda(device)` refuses a device that is the CPU without an accelerator, in one arm or
  by default, or that is also given to what takes any, `.to(device)`; so does `.cuda(x.device)`; and
  `net.cuda().to(device)` goes by way of CUDA to what may be the CPU.
- **A second choice.** A device is chosen anew, `"cuda" if torch.cuda.is_available() else "cpu"`, beside one that a
  caller said, `self.device`; a file is read onto CUDA, `torch.load(path, map_location="cuda")`, beside a device in use,
  or its state is copied into a module on the CPU.
- **The file.** Nobody asks about the place, and at least four other places of the file, three times as many as name
  CUDA, go where they are told.

## Why is this bad

The function works for callers on one kind of accelerator, and on the one that happens to be current. For a caller on
the CPU, on `mps` or `xpu` it raises; for a caller on `cuda:1` it puts its own tensors on `cuda:0`. The caller's
choice was there to be read.

## Example

```python
import torch


def with_noise(x: torch.Tensor) -> torch.Tensor:
    return x + torch.randn(x.shape, device="cuda")
```

## Use instead

```python
import torch


def with_noise(x: torch.Tensor) -> torch.Tensor:
    return x + torch.randn(x.shape, device=x.device)
```

## When it is right

- A test for the device decides whether the line runs, in the function or around it. Where the function chose a device
  for the rest, so does any condition that speaks of devices.
- It stands where the argument that could say the device is None.
- The function or its class is named for CUDA or the GPU: that is its contract.
- A method goes where the machine has an accelerator, where it was given nothing to ask, `if len(boxes) == 0:`: low.
- The file brings modules, or what its functions are given, to the device of the settings: it is its place to work.
- An object that is no Module says by an attribute where it works, `self.device`, or one of its methods brings something
  there too, or asks where what it is given is.
- The method brings there what it is given as well, or its class brings itself or keeps that device. The constructor of
  a class that is no Module brings something there in any case: so does the rest of the class.
- The function moves all it is given to `cuda`: then it is the one place that chooses.
- The top level of a program that has chosen no device yet, and what is under a test for one.
- A state that is read onto CUDA for a module which the function then brings there.
- Tests that are marked for CUDA, `@pytest.mark.gpu`, or skipped without.
- Scripts, notebooks, tests and benchmarks choose a device: low. So do functions that use other parts of `torch.cuda`,
  and those that move whole modules without a device, and `torch.autocast("cuda", enabled=False)`.
- A `GradScaler("cuda", enabled=self.use_amp)`: a switch decides, and without CUDA it leaves the loss as it is.
- The function hands a collective, `dist.all_reduce(total)`, what is on the current accelerator: NCCL wants it there.
- A module without parameters and buffers: `nn.MSELoss().cuda()` does nothing.
- What meets arguments in a definition that moves any argument, or a part of it, itself: it chooses for all.
- The package sets the current accelerator in each of its processes, and nobody is on none: the file imports what needs
  one, or no file of the package asks whether there is one: low. So is what stands beside an accelerator of a number,
  `torch.device(f"cuda:{gpu}")`, in any package that sets the current one.
- The module keeps its parameters away from where it works, as its names say: `self.offload_device`, `self.cpu_offload`.
  They cannot tell the device.
- A device that is chosen anew for what is brought over afterwards, or in a definition that compares devices.
- A default argument of a function, a command-line default, and what a device argument gets where the caller left it
  out. Of a Module's method it is right where nothing that is put there meets the parameters, and where the class brings
  itself or its parts somewhere.

## Fix safety

`.to(x.device)` and `device=x.device` are safe where one argument says it that is certainly a tensor and has no other
value by then, unsafe where it is likely a tensor. With several candidates, or a module alone, it is a suggestion.
`.to(device)` for `.cuda(device)` is unsafe: what failed without an accelerator goes on.

## How a run confirms it

Run on the CPU, and on `cuda:1` with `cuda:0` current.

## Known problems

What a class keeps on `self` is a candidate only where a method of the class uses it, or where the class is a Module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, Premise
from devlint.finding import Confidence, Severity
from devlint.rules.naming.accelerator_by_default import AcceleratorByDefault, takes_cuda_by_default
from devlint.rules.naming.asked_elsewhere import AskedElsewhere
from devlint.rules.naming.brought_elsewhere import BroughtElsewhere
from devlint.rules.naming.chosen_anew import ChosenAnew
from devlint.rules.naming.chosen_for_models import ChosenForModels
from devlint.rules.naming.chosen_in_methods import ChosenInMethods, chooses_by_machine
from devlint.rules.naming.for_told_models import ForToldModels
from devlint.rules.naming.indices_as_devices import index_drafts
from devlint.rules.naming.mapped_to_accelerators import MappedToAccelerators
from devlint.rules.naming.met_elsewhere import MetElsewhere
from devlint.rules.naming.named_by_functions import NamedByFunctions
from devlint.rules.naming.noted_places import NotesPlaces
from devlint.rules.naming.parts_of_modules import PartsOfModules, brings_itself
from devlint.rules.naming.refused_by_cuda import RefusedByCuda, refuses_the_cpu
from devlint.rules.naming.state_of_objects import StateOfObjects
from devlint.rules.naming.through_cuda import ThroughCuda
from devlint.rules.naming.unlike_the_file import UnlikeTheFile
from devlint.rules.rule import Rule
from devlint.rules.waking import always, any_of

if TYPE_CHECKING:
    from devlint.placement.domain.events import (
        Begun,
        Called,
        CallersModuleCalled,
        Compared,
        Created,
        DeviceNamed,
        GlobalRead,
        IndexAsDevice,
        Moved,
        Stored,
        Tested,
        ToldModuleCalled,
        UndecidedMismatch,
    )
    from devlint.rules.naming.accelerator_places import Definition, Place


class HardcodedAccelerator(NotesPlaces, Rule):
    code = "DEV302"
    name = "hardcoded-accelerator"
    severity = Severity.WARNING
    gives_way_to = ("DEV102", "DEV204", "DEV309", "DEV301")
    wakes_at = any_of(
        device_named=always,
        moved=always,
        index_as_device=always,
        created=chooses_by_machine,
        begun=takes_cuda_by_default,
        called=brings_itself,
    )

    def __init__(self) -> None:
        super().__init__()
        self._for_models = ChosenForModels()
        self._for_told = ForToldModels()
        self._asked_elsewhere = AskedElsewhere()
        self._refused = RefusedByCuda()
        self._parts = PartsOfModules()
        self._in_methods = ChosenInMethods()
        self._anew = ChosenAnew()
        self._brought = BroughtElsewhere()
        self._met_elsewhere = MetElsewhere()
        self._by_default = AcceleratorByDefault()
        self._kept = StateOfObjects()
        self._by_functions = NamedByFunctions()
        self._mapped = MappedToAccelerators()
        self._through = ThroughCuda()
        self._unlike = UnlikeTheFile()

    @staticmethod
    def wakes_at_call(name: str) -> bool:
        return refuses_the_cpu(name)

    def begun(self, event: Begun) -> Iterable[Draft]:
        self._asked_elsewhere.begun(event)
        self._refused.begun(event)
        self._parts.begun(event)
        self._in_methods.begun(event)
        self._by_default.begun(event)
        self._anew.begun(event)
        self._by_functions.begun(event)
        return super().begun(event)

    def stored(self, event: Stored) -> Iterable[Draft]:
        self._for_models.stored(event)
        self._refused.stored(event)
        self._through.stored(event)
        self._parts.stored(event)
        self._kept.stored(event)
        self._by_functions.stored(event)
        self._in_methods.stored(event)
        self._anew.stored(event)
        return super().stored(event)

    def created(self, event: Created) -> Iterable[Draft]:
        self._in_methods.created(event)
        self._anew.created(event)
        self._refused.created(event)
        self._by_functions.created(event)
        self._unlike.created(event)
        return super().created(event)

    def called(self, event: Called) -> Iterable[Draft]:
        self._in_methods.called(event)
        self._anew.called(event)
        self._parts.called(event)
        self._refused.called(event)
        self._by_default.called(event)
        self._by_functions.called(event)
        self._mapped.called(event)
        self._unlike.called(event)
        return super().called(event)

    def global_read(self, event: GlobalRead) -> Iterable[Draft]:
        self._in_methods.global_read(event)
        self._by_functions.global_read(event)
        return ()

    def device_named(self, event: DeviceNamed) -> Iterable[Draft]:
        self._parts.named(event)
        return super().device_named(event)

    def index_as_device(self, event: IndexAsDevice) -> Iterable[Draft]:
        return index_drafts(event)

    def compared(self, event: Compared) -> Iterable[Draft]:
        self._anew.compared(event)
        return super().compared(event)

    def tested(self, event: Tested) -> Iterable[Draft]:
        self._kept.tested(event)
        return super().tested(event)

    def callers_module_called(self, event: CallersModuleCalled) -> Iterable[Draft]:
        self._for_models.called(event)
        return ()

    def told_module_called(self, event: ToldModuleCalled) -> Iterable[Draft]:
        self._for_told.called(event)
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        self._for_models.moved(event)
        self._for_told.moved(event)
        self._asked_elsewhere.moved(event)
        self._refused.moved(event)
        self._parts.moved(event)
        self._kept.moved(event)
        self._in_methods.moved(event)
        self._anew.moved(event)
        self._brought.moved(event)
        self._met_elsewhere.moved(event)
        self._through.moved(event)
        self._by_default.moved(event)
        self._by_functions.moved(event)
        self._unlike.moved(event)
        return super().moved(event)

    def undecided_mismatch(self, event: UndecidedMismatch) -> Iterable[Draft]:
        self._by_default.undecided_mismatch(event)
        self._kept.undecided_mismatch(event)
        self._met_elsewhere.undecided_mismatch(event)
        return super().undecided_mismatch(event)

    def finish(self) -> Iterable[Draft]:
        through = tuple(self._through.drafts())
        told = frozenset(id(node) for draft in through for node in self._through.spelled_in(draft.node))
        yield from through
        for draft in self._drafts():
            if id(draft.node) not in told:
                yield replace(draft, premise=draft.premise or Premise.CALLERS_CHOOSE)
        yield from self._refused.drafts()
        yield from self._mapped.drafts(self._places.definitions)

    def _unlike_the_rest(self, definition: Definition, place: Place) -> Draft | None:
        return (
            self._asked_elsewhere.draft_of(definition, place)
            or self._brought.draft_of(definition, place)
            or self._met_elsewhere.draft_of(definition, place)
            or self._by_functions.draft_of(definition, place)
        )

    def _drafts(self) -> Iterator[Draft]:
        told = set()
        for contradicted in self._for_models.where_asked_for():
            told.add(id(contradicted.node))
            yield contradicted
        alone: list[tuple[Place, Draft]] = []
        for definition, place, beside in self._told_beside():
            sure = beside is not None and beside.confidence is not Confidence.LOW
            draft = beside if sure else self._unlike_the_rest(definition, place) or beside
            unsure = draft is None or draft.confidence is Confidence.LOW
            unlike = self._unlike.draft_of(definition, place) if unsure else None
            if unlike is not None:
                alone.append((place, unlike))
            # One finding a place, whether it is the transfer that is told of or what names its device.
            elif draft is not None and told.isdisjoint(place.placed_by()):
                told.update(place.placed_by())
                yield draft
        yield from self._for_models.finish(frozenset(told))
        # Each part says what it found; one finding a place.
        apart = (self._parts, self._in_methods, self._by_default, self._kept, self._anew, self._for_told)
        for draft in (one for part in apart for one in part.drafts()):
            if id(draft.node) not in told:
                told.add(id(draft.node))
                yield draft
        for place, draft in (*alone, *self._unlike.of_callees(self._places.definitions)):
            if told.isdisjoint(place.placed_by()):
                yield draft
