"""What is gathered while a body is read: the signs of each name, and what it is handed to."""

from __future__ import annotations

from collections import Counter

import libcst as cst

from devlint.placement.declarations import evidence_modules as modules
from devlint.placement.declarations import evidence_rows as rows
from devlint.placement.declarations.evidence_grades import HandedOn, Shows, Sign, Uses
from devlint.placement.declarations.evidence_names import (
    names_a_module,
    names_a_number,
    names_a_part,
    names_a_plain_value,
    names_a_tensor,
)
from devlint.placement.declarations.imports import ImportTable


class Found:
    """The signs gathered so far."""

    def __init__(self, imports: ImportTable, parameters: list[str]) -> None:
        self.imports = imports
        self.first = parameters[0] if parameters else ""
        self.parameters = frozenset(parameters)
        self._signs: dict[str, set[Sign]] = {}
        self._handed_on: dict[str, list[HandedOn]] = {}
        self._classes: dict[str, list[str]] = {}
        self.called: set[str] = set()
        """Attributes of the first parameter that are called."""
        self.functions: set[str] = set()
        """Names that are called."""
        self.parameters_of: dict[str, set[str]] = {}
        """Of names, the parameters of layers that are read of them."""
        self.method_calls: Counter[tuple[str, str]] = Counter()
        """How often a method of a parameter is called, of those that are never read of a tensor."""
        self.method_reads: Counter[tuple[str, str]] = Counter()
        """How often it is read, whether it is called or not."""
        self.members: dict[str, set[str]] = {}
        """Of parameters and attributes of the first one, what is read of them that no tensor has."""
        self.moved_attributes: set[str] = set()
        """Attributes, as they are written, of which a method moves something."""
        self.kept: list[tuple[str, str]] = []
        """Parameters, each with an attribute of the first one that keeps it as it was given."""
        self.made: list[tuple[str, str]] = []
        """Attributes of the first parameter, each with the class of which it is made an object."""
        self.objects: dict[str, str] = {}
        """Names of the body that stand for an object which it makes, each with its class: ``layer = Layer()``."""
        self.bound: set[str] = set()
        """Names that the body binds, but for the latest."""
        self._binding: list[str] = []
        """Names that the latest statement binds: what it reads of them is what they held before."""
        self.stand_ins: dict[int, str] = {}
        """Assignments, by their identity, that give this name a value where it has none: it stays what was given."""
        self._otherwise: set[str] = set()
        """Names that show no tensor before they are bound."""
        self.iterated: list[tuple[str, str]] = []
        """Pairs of names: one of an item, and that of what is iterated."""

        self.picked: list[tuple[str, str]] = []
        """Pairs of names: one that is bound to an item of the other, which is read by a number."""

        self.subtracted: list[tuple[str, str]] = []
        """Pairs of names of which one is subtracted from the other."""

        self.together: list[set[str]] = []
        """Groups of names of which something is computed that is certainly a tensor."""

        self.tested: frozenset[str] = frozenset()
        """Names that the arm which is read just now takes for tensors: it says nothing of what they may be besides."""

        self.gone_through: set[str] = set()
        """Names that a loop binds to what it goes through, which is no range of numbers."""
        self.indexed: list[tuple[str, str]] = []
        """Pairs: a parameter, and the name or number under which one item of it is read."""

        self.computed: Counter[str] = Counter()
        """How often each name is bound to what a function of torch gives, or a method of tensors."""

        self.masks: set[str] = set()
        """Names that hold a comparison, or are asked whether any of it is true."""

        self._derived: list[tuple[str, str]] = []
        """Pairs of names: one that is bound to what is computed of the other alone, and the other."""
        self._times: Counter[str] = Counter()
        """How often each name is bound."""
        self.looped: Counter[str] = Counter()
        """How often each name is bound by a loop."""
        self.dims_asked: set[str] = set()
        """Names that are asked how many dimensions they have: what follows may be for some of their values."""

    def note(self, name: str, sign: Sign) -> None:
        if self.tested and name in self.tested:
            return
        signs = self._signs.get(name)
        if signs is None:
            signs = self._signs[name] = set()
        signs.add(sign)
        if sign.shows in _OTHERWISE and name not in self.bound:
            self._otherwise.add(name)

    def shows(self, name: str, sign: Sign) -> bool:
        """Whether what is read so far shows it."""
        return sign in self._signs.get(name, ())

    def bind(self, names: list[str]) -> None:
        """Names that a statement binds, noted before what it reads."""
        if self._binding:
            self.bound.update(self._binding)
        self._binding = names
        if names:  # of most statements there are none, and each is asked
            self._times.update(names)

    def note_derived(self, name: str, source: str, value: cst.BaseExpression) -> None:
        """``big = x.sum(axis=1) >= 1``; an alias of a name says nothing."""
        if source and not isinstance(value, cst.Name):
            self._derived.append((name, source))

    def note_parameter(self, name: str, sign: Sign) -> None:
        """Note what is told of parameters alone."""
        if name in self.parameters:
            self.note(name, sign)

    def note_text(self, name: str) -> None:
        """A parameter is a text, as it was given."""
        if name in self.parameters and name not in self.bound:
            self.note(name, rows.TEXT)

    def note_handed_on(self, name: str, handed: HandedOn) -> None:
        self._handed_on.setdefault(name, []).append(handed)

    def note_class(self, name: str, class_name: str | None) -> None:
        if name in self.parameters and class_name:
            self._classes.setdefault(name, []).append(class_name)

    def _note_keyed(self) -> None:
        """``losses[name]``, of ``for name in names``; ``parts[0]`` beside ``parts[1]`` and ``parts[2]``.

        Of tensors, edge indices and pairs of indices are read by two numbers.
        """
        numbers: dict[str, set[str]] = {}
        for name, index in self.indexed:
            if index in self.gone_through:
                self.note(name, rows.TESTED)
            elif index.isdecimal():
                numbers.setdefault(name, set()).add(index)
        for name, found in numbers.items():
            if len(found) > 2:
                self.note(name, rows.TESTED)

    def _note_holders_of_modules(self) -> None:
        """``policy``, of ``policy.actor.parameters()``, if it is moved or called itself."""
        parts = [name for name, signs in self._signs.items() if "." in name and rows.MODULE in signs]
        for name in {part.rpartition(".")[0] for part in parts}:
            moved = name in self.moved_attributes or rows.MOVED in self._signs.get(name, ())
            if moved or name in self.functions:
                self.note(name, modules.HAS_A_MODULE)

    def _note_wholes(self) -> None:
        """``snrs``, of ``snrs[i].detach()``, if it has a shape: a list of tensors has none."""
        items = [name for name, signs in self._signs.items() if "[" in name and rows.TENSOR in signs]
        for whole in {item.partition("[")[0] for item in items}:
            if rows.SHAPED in self._signs.get(whole, ()):
                self.note_parameter(whole, rows.COMPUTED_OF)

    def _note_holders_of_structures(self) -> None:
        """``states``, of ``first = states[0]`` and ``first["key"]``: an item of a tensor is one as well."""
        for item, whole in self.picked:
            if self._times[item] == 1 and whole not in self.bound and rows.STRUCTURED in self._signs.get(item, ()):
                self.note_parameter(whole, rows.NO_TENSOR)

    def _note_together(self) -> None:
        """``p0`` and ``normal``, of ``torch.sum(p0 * normal)``, arguments or items: one of them is a tensor at least.

        Where one is for another reason, or may be, the others may be numbers.
        """
        known = self.parameters.union(item for item, _ in self.iterated)
        open_groups = [
            group for group in self.together if group <= known and not any(map(self._may_be_the_tensor, group))
        ]
        for group in open_groups:
            for name in group:
                if not (names_a_plain_value(name) or names_a_number(name)):
                    self.note(name, rows.COMPUTED_TOGETHER)

    def _may_be_the_tensor(self, name: str) -> bool:
        return names_a_tensor(name) or any(sign.shows in _OF_A_TENSOR for sign in self._signs.get(name, ()))

    def uses(self) -> Uses:
        self.bind([])
        self._note_wholes()
        self._note_together()
        self._note_holders_of_structures()
        for item, whole in self.iterated:
            signs = self._signs.get(item, set())
            if not _AS_TENSOR.isdisjoint(signs) and rows.MOVED not in signs:
                self.note(whole, rows.ITEMS)
        for name, source in reversed(self._derived):
            once = self._times[name] == 1 and source not in self.bound & self.parameters
            if once and not _AS_TENSOR.isdisjoint(self._signs.get(name, ())):
                self.note(source, rows.COMPUTED_OF)
        bound = self.bound.union(self.stand_ins.values())
        for pair in self.subtracted:
            for name, other in (pair, pair[::-1]):
                if rows.TENSOR in self._signs.get(other, ()) and name not in bound:
                    self.note_parameter(name, rows.SUBTRACTED)
        self._note_keyed()
        for name in self.functions:
            if rows.MOVED in self._signs.get(name, ()):
                # What can be moved and called is a Module.
                self.note(name, rows.MODULE)
        self._note_holders_of_modules()
        for name, read in self.parameters_of.items():
            if len(read) > 1 or names_a_part(name) or names_a_module(name):
                self.note_parameter(name, modules.HOLDS_A_LAYER)
        for (name, method), count in self.method_reads.items():
            if count > self.method_calls[name, method]:
                self.note(name, rows.NO_TENSOR)
        for name, attribute in self.kept:
            for made, class_name in self.made:
                if made == attribute:
                    self.note_class(name, class_name)
        for name in self.bound & self._signs.keys():
            # Under the same name, it may be another value.
            self._signs[name] = {sign for sign in self._signs[name] if sign.shows not in _AS_IT_WAS_GIVEN}
        for name in self.bound & self._otherwise & self.parameters:
            self.note(name, rows.OTHERWISE)
        return Uses(
            {name: frozenset(signs) for name, signs in self._signs.items()},
            {name: tuple(handed) for name, handed in self._handed_on.items()},
            {name: tuple(classes) for name, classes in self._classes.items()},
            frozenset(self.called),
            frozenset(name for name, count in self.computed.items() if count == self._times[name]),
            tuple(self.kept),
            tuple(self.made),
            {name: frozenset(read) for name, read in self.members.items()},
            frozenset(filter(self._has_dimensions, self._signs)),
        )

    def _has_dimensions(self, name: str) -> bool:
        """``for stop in stops: if len(stop) > ...``: bound in one place, so that each use tells of all of them."""
        in_one_place = self._times[name] + self.looped[name] == 1 and name not in self.parameters
        shows = in_one_place and any(sign.shows in _OF_DIMENSIONS for sign in self._signs[name])
        return shows and name not in self.dims_asked


_AS_TENSOR = frozenset({rows.TENSOR, rows.COMPUTED_OF, rows.COMPUTED_TOGETHER})
_OF_DIMENSIONS = frozenset({Shows.DIMENSIONS, Shows.SEVERAL})
_OF_A_TENSOR = frozenset({Shows.TENSOR, Shows.SHAPED, Shows.ARRAY_LIKE, Shows.PLACED, Shows.CONVERTED})
_AS_IT_WAS_GIVEN = frozenset({Shows.NO_TENSOR, Shows.CALLED})
_OTHERWISE = frozenset({Shows.NO_TENSOR, Shows.UNPACKED, Shows.ITEMS, Shows.SIZE})


def names_of(node: cst.BaseExpression) -> list[str]:
    if type(node) is cst.Name:
        return [node.value]
    if type(node) is cst.Tuple or type(node) is cst.List:
        return [element.value.value for element in node.elements if type(element.value) is cst.Name]
    return []
