"""What the file itself saves, and where to: it tells what is loaded from there again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.trace import provenance_of
from devlint.drafts.wording import code_of
from devlint.placement.domain.abstract_values import Constant, Container, DeviceName, Host, Opaque, Tensor, Value
from devlint.placement.domain.lattice import is_accelerator, is_given, leaves
from devlint.rules.state.origins_of_files import is_brought_to_the_cpu, is_of_numbers, is_on_the_cpu

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Called
    from devlint.placement.domain.scope import Scope

WRITERS = ("torch.save", "torch.jit.save")


@dataclass(slots=True)
class SavedFiles:
    definitions: set[str] = field(default_factory=set)
    """Definitions that write a checkpoint before they read one."""
    paths: set[str] = field(default_factory=set)
    """What the file saves to, in the source's words."""
    _plain: dict[str, bool] = field(default_factory=dict)
    """Classes that save: whether all they save is plain values, or lies on the CPU, as far as the source shows."""
    _plain_paths: dict[str, bool] = field(default_factory=dict)
    """The same of what the file saves to, in the source's words."""
    _placed: set[tuple[str, str]] = field(default_factory=set)
    """By definition: what it saves to of tensors that are where the caller or the module works."""

    def note(self, event: Called, owner: cst.ClassDef | None) -> None:
        """``owner`` is the class around the call."""
        self.definitions.add(event.scope.qualname)
        saved, into = event.call.argument("obj", 0), event.call.argument("f", 1)
        plain = saved is not None and (
            _holds_no_tensor(saved.value)
            or is_brought_to_the_cpu(saved.node)
            or is_on_the_cpu(saved.value)
            or is_of_numbers(owner, saved.node)
        )
        words = {code_of(argument.node) for argument in event.call.arguments[1:]}
        self.paths |= words
        # What was read from it, or from another, and is written back: the file has been there before.
        plain_file = plain and saved is not None and not _is_loaded(saved.value)
        for path in {code_of(into.node)} if into is not None else words:
            self._plain_paths[path] = plain_file and self._plain_paths.get(path, True)
        if event.scope.class_name is not None:
            self._plain[event.scope.class_name] = plain and self._plain.get(event.scope.class_name, True)
        if saved is not None and into is not None and not plain and _is_placed(saved.value):
            self._placed.add((event.scope.qualname, code_of(into.node)))

    def holds_no_tensor(self, source: cst.CSTNode) -> bool:
        """Whether what is saved to a path has no place on an accelerator."""
        return self._plain_paths.get(code_of(source), False)

    def class_holds_no_tensor(self, class_name: str | None) -> bool:
        return self._plain.get(class_name or "", False)

    def holds_placed(self, scope: Scope, source: cst.CSTNode) -> bool:
        """``if exists(path): x = torch.load(path) else: x = build(); torch.save(x, path)``: the function's own cache,
        which keeps a tensor where the run that made it worked.
        """
        return (scope.qualname, code_of(source)) in self._placed


def _is_placed(value: Value) -> bool:
    device = value.device if isinstance(value, (Tensor, Opaque)) else None
    return device is not None and all(is_given(leaf) or is_accelerator(leaf) for leaf in leaves(device))


def _holds_no_tensor(value: Value) -> bool:
    """A dictionary written out at the call, of values that are known to be plain."""
    return isinstance(value, Container) and value.keys is not None and all(map(_is_plain_value, value.innermost))


def _is_plain_value(value: Value) -> bool:
    return isinstance(value, (Constant, Host, DeviceName))


def _is_loaded(value: Value) -> bool:
    provenance = provenance_of(value)
    return provenance is not None and provenance.first.name == "torch.load"
