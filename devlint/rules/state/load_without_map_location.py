"""A checkpoint is loaded without saying where to.

## What it does

Finds `torch.load` and `torch.jit.load` without `map_location`, and calls of a function of the project that hands them
a parameter of its own as `map_location`, where the call leaves that parameter at its default of `None`. Also
`torch.hub.load_state_dict_from_url` without it, in a function that loads a file with `map_location="cpu"`. And
`load_from_checkpoint` of Lightning without it, in a function that is told a device and brings nothing there.

## Why is this bad

A checkpoint remembers the device of each tensor. Without `map_location` the tensors go back there: on a machine without
that device loading raises "Attempting to deserialize object on a CUDA device", on a smaller machine the index does not
exist, and on the same machine the weights briefly take memory of a GPU that somebody else may be using.

## Example

```python
import torch


def restore(net: torch.nn.Module, path: str) -> None:
    net.load_state_dict(torch.load(path, weights_only=True))
```

## Use instead

```python
import torch


def restore(net: torch.nn.Module, path: str) -> None:
    net.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
```

## When it is right

- `map_location` is given by position, or may be among unpacked `**kwargs`.
- The file was written a few lines before in the same function, by `torch.save` or by what its name says that it saves,
  exports or creates, and was handed the same path: what was saved here can be loaded here.
- Each call of a private function hands it a path to which the caller has just written: `self._verify(path)`. The
  confidence is low.
- The saved object holds no tensors, or CPU tensors alone: the class that loads also saves, and what it saves is a
  dictionary of plain values, or numbers by its annotation; or the file saves to the same path what is on the CPU.
  `weights_only=True` alone says nothing about devices.
- Nothing shows that the file holds the state of a model or an optimizer: no name of what is loaded, of the file or of
  the function that gets it mentions states, checkpoints, weights or models, nor does the function itself save there a
  tensor that is where the caller or the module works. There the confidence is low. What the function makes of the file
  counts where it goes into `load_state_dict`, or into a method that says that it builds a model of a state; and so does
  a part under a key that says so, `loaded["state_dict"]`.
- What holds no tensors is named so: schedulers, random generators, vocabularies, tokenizers, what stops a training.
  There the confidence is low.
- The load is tried, and where it raises a RuntimeError the handler loads with `map_location`.
- A function that hands its parameter on has no default to be blamed for: each call decides, and is reported where it
  does not.
- The bytes are at hand (`torch.load(io.BytesIO(data))`), the file lies beside the code (`Path(__file__).parent`), or
  the function says that it returns an array: the confidence is low.
- The authors published the file: the function downloads it, writes there what it asked the web for, or asks for it by
  the name of a model. What they saved there, everybody loads; but not where the caller may name a file or a repository,
  and says a device. The confidence is low, and so it is where the file is of
  the same run: the function is called `reload`, it has trained a model before (`trainer.fit(...)`), or the path's
  default is what the same file of code saves.
- Another arm of the function loads the same file with `map_location`, and what decides between the two speaks of
  devices: this one is for machines that have what the file was saved from. The confidence is low.

## Fix safety

Unsafe: with `map_location="cpu"` the loaded tensors are on the CPU where they were on an accelerator before, and code
that used them unmoved must move them. A function that takes a `map_location` hands it on. A module of `torch.jit.load`
is meant to be run where its inputs are: it goes to the device that the function is handed; where there is none, a place
for it is a suggestion.

## How a run confirms it

A checkpoint saved from an accelerator is loaded in a process without one.

## Known problems

Whether a file holds tensors of an accelerator is not in the source; the confidence is medium at most.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from devlint.drafts.changes import with_argument
from devlint.drafts.draft import Draft, Premise, Repair
from devlint.drafts.trace import provenance_of
from devlint.drafts.wording import code_of, quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.abstract_values import Value
from devlint.placement.domain.lattice import exclude
from devlint.placement.domain.scope import Setting
from devlint.repairs.device_expressions import Definitions
from devlint.rules.rule import Rule
from devlint.rules.state.checkpoints_of_models import LOADER, CheckpointsOfModels
from devlint.rules.state.downloads_beside import DOWNLOADS, DownloadsBeside
from devlint.rules.state.origins_of_files import (
    holds_host_state,
    is_downloaded,
    is_downloaded_by_name,
    is_downloaded_to,
    is_in_memory,
    is_of_this_run,
    is_told_elsewhere,
    may_be_as_given,
    may_be_written,
    paths_in,
    sources_of,
    trains,
)
from devlint.rules.state.rewritten_states import is_a_state
from devlint.rules.state.saved_files import WRITERS, SavedFiles
from devlint.rules.state.tried_loads import is_tried_first
from devlint.rules.waking import any_of
from devlint.semantics import Factory
from devlint.semantics import function as known_function
from devlint.source.outline import is_private
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.abstract_values import Argument
    from devlint.placement.domain.events import Begun, Called, Moved, Returned, Stored


class LoadWithoutMapLocation(Rule):
    code = "DEV503"
    name = "load-without-map-location"
    severity = Severity.WARNING
    wakes_at = any_of(called=lambda event: bool(event.left_out))

    def __init__(self) -> None:
        self._saved = SavedFiles()
        self._written: dict[str, set[str]] = {}
        """By definition: what it handed to functions that write, in the source's words: paths among them."""
        self._checkpointed: dict[str, set[str]] = {}
        """Of this, what went to functions that write checkpoints by their names: directories among them."""
        self._bodies: dict[str, cst.ClassDef] = {}
        """The classes of the file."""
        self._trained: dict[str, list[Called]] = {}
        """By definition: the calls that train. A file that is read afterwards is of that run."""
        self._found: list[tuple[Called, Draft]] = []
        self._downloads = DownloadsBeside()
        self._of_models = CheckpointsOfModels()
        self._parametrised: set[str] = set()
        """Definitions with a parameter for the device."""
        self._definitions = Definitions()
        self._beside: set[str] = set()
        """Names of the module for a path that begins at its own file."""
        self._arrays: set[int] = set()
        """Loads that such a definition returns, by the identity of their nodes."""
        self._returns_arrays: set[str] = set()
        """Definitions that say that they return an array."""
        self._handed_written: dict[str, list[bool]] = {}
        """By the name of a private definition: of each call, whether it hands on what its caller has written."""
        self._states: set[int] = set()
        """Loads whose result is used as a model's or an optimizer's state, by the identity of their nodes."""

    @staticmethod
    def wakes_at_call(name: str) -> bool:
        return _loads(name) or name in DOWNLOADS or name.rpartition(".")[2] == LOADER

    def begun(self, event: Begun) -> Iterable[Draft]:
        self._definitions.note(event)
        self._of_models.begun(event)
        if event.owner is not None:
            self._bodies[event.owner.qualname] = event.owner.node
        if _says_array(event.node):
            self._returns_arrays.add(event.scope.qualname)
        if any(name in ("map_location", "device") for name, _ in event.arguments):
            self._parametrised.add(event.scope.qualname)
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        self._of_models.moved(event)
        return ()

    def stored(self, event: Stored) -> Iterable[Draft]:
        if _sounds_like_state(event.target):
            self._note(event.value)
        if not event.scope.qualname and event.value_node is not None and self._names_own_file(event.value_node):
            self._beside.add(event.target)
        return ()

    def _names_own_file(self, node: cst.CSTNode) -> bool:
        from devlint.placement.syntax.nodes import names_in

        return not names_in(node).isdisjoint({"__file__", *self._beside})

    def returned(self, event: Returned) -> Iterable[Draft]:
        if event.scope.qualname in self._returns_arrays:
            provenance = provenance_of(event.value)
            if provenance is not None:
                self._arrays.add(id(provenance.first.node))
        if _sounds_like_state(event.scope.qualname):
            self._note(event.value)
        return ()

    def _note(self, value: Value) -> None:
        provenance = provenance_of(value)
        if provenance is not None and provenance.first.name == "torch.load":
            self._states.add(id(provenance.first.node))

    def called(self, event: Called) -> Iterable[Draft]:
        of_state = _sounds_like_state(event.name.rsplit(".", 1)[-1]) and not _is_of_host_state(event)
        if of_state:
            for argument in event.call.arguments:
                self._note(argument.value)
        if event.name in WRITERS:
            self._saved.note(event, self._bodies.get(event.scope.class_name or ""))
            return ()
        if trains(event):
            self._trained.setdefault(event.scope.qualname, []).append(event)
        if written := may_be_written(event):
            self._written.setdefault(event.scope.qualname, set()).update(written)
            if of_state:
                self._checkpointed.setdefault(event.scope.qualname, set()).update(written)
        self._note_handed(event)
        self._downloads.called(event)
        self._of_models.called(event)
        loads = _loads(event.name)
        if loads:
            self._downloads.loaded(event)
        loads = loads and not event.call.unpacks and event.call.argument("map_location", 1) is None
        if not loads and not event.left_out:
            return ()
        source = event.call.argument("f", 0) if loads else None
        own = source is not None and self._was_written(event, source.node)
        if own or event.scope.qualname in self._saved.definitions:
            return ()
        what = quoted(event.call.node, f"`{event.name}`")
        how = f" leaves `{event.left_out}` out and" if event.left_out else ""
        draft = Draft(
            node=event.node,
            scope=event.scope,
            message=f"{what}{how} puts every tensor back on the device it was saved from; "
            "it fails where that device does not exist",
            confidence=Confidence.LOW if self._has_trained(event) else _confidence(event),
            repair=self._repair(event),
            premise=Premise.SAVED_ELSEWHERE,
        )
        self._found.append((event, draft))
        return ()

    def _note_handed(self, event: Called) -> None:
        """``model.save(path); self._verify(path)``: the file is of this process, and so are its devices."""
        name = code_of(event.call.node.func).rpartition(".")[2]
        if is_private(name):
            written = self._written.get(event.scope.qualname, set())
            paths = {code_of(argument.node) for argument in event.call.arguments}
            own = any(path in words or f"({path})" in words for path in paths for words in written)
            self._handed_written.setdefault(name, []).append(own)

    def _has_trained(self, event: Called) -> bool:
        """Whether a run that comes here may have trained before, in the same call of the definition."""
        return any(not exclude(one.arms, event.arms) for one in self._trained.get(event.scope.qualname, ()))

    def _was_written(self, event: Called, source: cst.CSTNode) -> bool:
        """Whether the function wrote to this path before, or a checkpoint to a directory in it."""
        function = event.scope.qualname
        into = self._checkpointed.get(function, set())
        return code_of(source) in self._written.get(function, set()) or not into.isdisjoint(paths_in(source))

    def _repair(self, event: Called) -> Repair:
        if event.left_out:
            chosen = self._definitions.device(event.scope, event.node)
            target = chosen.code if chosen is not None else '"cpu"'
            changes = with_argument(event.node, event.left_out, target)
            return Repair(Applicability.SUGGESTION, f"say where to: `{event.left_out}={target}`", changes)
        target = "map_location" if self._definitions.has_argument(event.scope, "map_location", event.node) else '"cpu"'
        applicability = Applicability.UNSAFE
        if event.name.endswith("jit.load"):
            expression = self._definitions.device(event.scope, event.node)
            target = expression.code if expression is not None else target
            applicability = Applicability.UNSAFE if target != '"cpu"' else Applicability.SUGGESTION
        message = f"`{_with_map_location(event, target)}`"
        return Repair(applicability, message, with_argument(event.node, "map_location", target))

    def finish(self) -> Iterable[Draft]:
        """A class that saves plain values, or what it brought to the CPU, and loads them again needs no device."""
        for event, draft in self._found:
            source = event.call.argument("f", 0)
            if source is not None and self._saved.holds_no_tensor(source.node):
                yield replace(draft, confidence=Confidence.LOW)
                continue
            whole = self._definitions.node_of(event.scope)
            if whole is not None and is_tried_first(whole, event.node):
                continue
            # Where the function is told a device, its callers choose one: whatever it loads is to go there.
            told_device = event.scope.qualname in self._parametrised
            told = whole is not None and source is not None and self._is_explained(whole, source, told_device)
            told = told or all(self._handed_written.get(event.scope.qualname.rpartition(".")[2], [False]))
            plain = self._saved.class_holds_no_tensor(event.scope.class_name) or id(event.node) in self._arrays
            plain = plain or (source is not None and self._is_at_hand(event, source.node))
            named = _names_state(event) or (
                whole is not None and source is not None and _default_names_state(whole, source)
            )
            named = named or (source is not None and self._saved.holds_placed(event.scope, source.node))
            shown = told_device or id(event.node) in self._states or named
            shown = shown or (whole is not None and is_a_state(whole, event.node))
            doubtful = plain or told or not shown
            yield replace(draft, confidence=Confidence.LOW) if doubtful else draft
        yield from self._downloads.drafts()
        yield from self._of_models.drafts()

    def _is_at_hand(self, event: Called, source: cst.CSTNode) -> bool:
        """Whether bytes are read that this program or one like it wrote, or the path begins at the file of the code.

        What lies beside the code was published with it.
        """
        function = self._definitions.node_of(event.scope)
        # `if path.startswith("https://"): path = downloaded(path, HERE)`: a file of the caller's own comes here too.
        if function is None or may_be_as_given(function, source):
            parts = [source]
        else:
            parts = list(sources_of(function, source))
        return any(map(self._names_own_file, parts)) or any(map(is_in_memory, parts))

    def _is_explained(self, function: cst.FunctionDef, source: Argument, told_device: bool) -> bool:
        anybodys = told_device and is_downloaded_by_name(function, source.node)
        return (
            is_told_elsewhere(function, source.node)
            or (is_downloaded(function, source.node) and not anybodys)
            or is_downloaded_to(function, source.node)
            or is_of_this_run(function, source.node, self._saved.paths)
        )


def _says_array(node: cst.CSTNode) -> bool:
    """`def load(...) -> np.ndarray`: the file holds arrays, which know no device."""
    import libcst as cst

    returns = node.returns if isinstance(node, cst.FunctionDef) else None
    return returns is not None and code_of(returns.annotation).rsplit(".", 1)[-1] in ("ndarray", "NDArray")


_STATE = re.compile("state|checkpoint|ckpt|weight|model|snapshot")


def _names_state(event: Called) -> bool:
    """A compiled module, or a file that is called a checkpoint; of a function that loads, its name may say so."""
    if event.left_out:
        return _sounds_like_state(code_of(event.call.node))
    source = event.call.argument("f", 0)
    return event.name.endswith("jit.load") or (source is not None and _sounds_like_state(code_of(source.node)))


def _default_names_state(function: cst.FunctionDef, source: Argument) -> bool:
    """`def strip(f="weights/last.pt")`: what is read where the caller names no file."""
    from devlint.placement.syntax.nodes import parameters_of

    name = code_of(source.node)
    defaults = (one.default for one in parameters_of(function) if one.name.value == name and one.default is not None)
    return any(_sounds_like_state(code_of(default)) for default in defaults)


@lru_cache(4096)
def _sounds_like_state(name: str) -> bool:
    """Names that only what holds the tensors of a model or an optimizer is given."""
    return _STATE.search(name.lower()) is not None


def _loads(name: str) -> bool:
    found = known_function(name)
    return isinstance(found, Factory) and found.default == "checkpoint"


def _confidence(event: Called) -> Confidence:
    # Tests load what they or their fixtures wrote; a Dataset loads what was prepared on the CPU.
    if event.scope.role is Role.TEST or event.scope.setting is Setting.HOST or _is_plain(event):
        return Confidence.LOW
    return Confidence.MEDIUM


def _is_of_host_state(event: Called) -> bool:
    """``scheduler.load_state_dict(found)``: what is loaded is numbers."""
    import libcst as cst

    function = event.call.node.func
    return isinstance(function, cst.Attribute) and holds_host_state(code_of(function.value))


def _is_plain(event: Called) -> bool:
    """What schedulers, gradient scalers, random generators, stoppers and tokenizers save are numbers, CPU states and
    texts; their names say so.

    Of XLA's savers too: `xm.save` and what is built on it write CPU tensors.
    """
    source = event.call.argument("f", 0)
    named_so = source is not None and holds_host_state(code_of(source.node))
    if named_so or holds_host_state(event.scope.qualname.rpartition(".")[2]):
        return True
    owner = (event.scope.class_name or "").rsplit(".", 1)[-1].lower()
    return any(word in owner for word in ("schedul", "scaler", "rng", "generator", "xla", "earlystop"))


def _with_map_location(event: Called, target: str) -> str:
    code = code_of(event.call.node)
    return f"{code.removesuffix(')').rstrip(', ')}, map_location={target})"
