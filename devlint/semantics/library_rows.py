"""The fields of a row of `tables/libraries`: frozen data, and the words allowed in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

OPTIONS: dict[str, frozenset[str]] = {
    "same": frozenset({"argument", "position"}),
    "copied": frozenset(),
    "made": frozenset({"gives", "device", "position", "unless", "default", "follows", "fields", "floats"}),
    "beside": frozenset({"gives", "argument", "position"}),
    "meets": frozenset({"as", "operation", "brings"}),
    "host": frozenset(),
    "host_each": frozenset(),
    "host_all": frozenset(),
    "host_reduced": frozenset(),
    "host_columns": frozenset(),
    "plain": frozenset(),
    "module": frozenset({"state", "unless", "device", "position", "differ", "gives", "map", "place", "only"}),
    "placer": frozenset({"unless"}),
    "object": frozenset({"follows", "place", "keeps"}),
    "chain": frozenset({"argument", "position"}),
    "placed": frozenset({"unless", "first", "gives", "argument", "position"}),
    "moved": frozenset({"device", "position", "argument", "default", "place", "unless"}),
    "device": frozenset(),
    "there": frozenset({"gives"}),
    "met": frozenset({"gives", "argument"}),
    "call": frozenset(),
    "calls": frozenset({"unless", "argument", "position"}),
    "context": frozenset({"place", "device", "position"}),
    "rows": frozenset(),
    "batches": frozenset({"argument", "position"}),
}
"""Every effect with the options it takes. What each one does is written once, in `placement.calls.library_effects`."""

KINDS = frozenset({"module", "lightning", "host", "autograd", "optimizer", "plain"})
TRANSFERS = frozenset({"in_place", "in_place_none", "new", "new_or_self", "missing"})
PLACES = frozenset({"nowhere", "there", "cpu", "cuda"})
WORDS = frozenset({"tensor", "batch", "host", "module"})


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of a call; `OPTIONS` lists the options it takes."""

    name: str
    gives: tuple[str, ...] = ("tensor",)
    """The result, as words of `WORDS` or names of classes with rows; several words mean a tuple."""
    device: str = ""
    """The argument that names the device; empty if there is none."""
    position: int | None = None
    """The position of that argument, or of `argument`, if it can be passed by position."""
    default: bool = False
    """Where no argument names a device. For a created tensor: the default device if true, otherwise the CPU.

    For a moved one: the device of the process if true, otherwise it is not moved.
    """
    unless: frozenset[str] = frozenset()
    """Keywords with which nothing is known; `False` or `None` counts as not given.

    `keyword=value` is for that value only.
    """
    floats: bool = False
    """Of a created tensor: it holds floating-point numbers."""
    state: bool | None = None
    """Of a Module: whether it has parameters or buffers; None where its arguments decide."""
    fields: frozenset[str] = frozenset()
    """Of a created batch: its attributes that are tensors; `[]` for all that is kept under a string key."""
    differ: tuple[str, ...] = ()
    """Of a Module: the first arguments, in order. It has state if they are two literals that differ, none if alike."""
    first: bool = False
    """Of a returned argument: only the first, however many there are."""
    argument: str = ""
    """The argument that the effect is about; the first if empty; `self` for the receiver of a method."""
    follows: tuple[str, ...] = ()
    """The arguments, in order, that determine an object's device; a created tensor's, where they are tensors."""
    keeps: bool = False
    """Of an object: what it is given by keyword are its attributes of these names."""
    place: str = "nowhere"
    """Of `PLACES`. Where bare factories make in a context: `nowhere` that is known, `there` where its receiver is or
    its argument says. Where something is moved, or an object keeps its tensors: `cpu`. Where a Module is without a
    device: `cuda` if the library takes the first GPU where there is one."""
    only: tuple[str, ...] = ()
    """Of a Module: what the first argument, a text, begins with; the call gives anything with another."""
    map: bool = False
    """Of a Module: the argument that names its device may be a plan for several, as `"auto"` is."""
    brings: bool = False
    """Of a method: it also brings the tensors of its receiver to where its first argument is."""
    as_function: str = ""
    """The function of torch whose operands these are (`as`)."""
    operation: Mapping[str, Any] | None = field(default=None, compare=False)
    """The row of an operation, as in `operations_by_hand.json`."""


@dataclass(frozen=True, slots=True)
class Moves:
    """What methods of transfer do to an object of a class, as in `transfers.json`."""

    methods: frozenset[str]
    effect: Literal["in_place", "in_place_none", "new", "new_or_self", "missing"]
    discard_is_bug: bool | None
    tag: str = "S"


@dataclass(frozen=True, slots=True)
class LibraryRow:
    """What is known of one name of a library, or of every name below it."""

    name: str
    """The name that stands for all its spellings."""
    kind: str | None = None
    """Of a class: what deriving from it makes of another, of `KINDS`."""
    effect: Effect | None = None
    """What calling it does."""
    methods: Mapping[str, Effect] = field(default_factory=dict)
    """What methods of its instances, and functions of the class, do."""
    fields: frozenset[str] = frozenset()
    """Attributes of an instance that are tensors; `[]` for all that is kept under a string key."""
    moves: tuple[Moves, ...] = ()
    placed_hooks: frozenset[str] = frozenset()
    """Methods that a derived class defines and the library calls with tensors that are where the module is."""
    host_hooks: frozenset[str] = frozenset()
    """Methods that a derived class defines and the library calls on the host."""
    gathering_hooks: frozenset[str] = frozenset()
    """Methods that a derived class defines and the library calls with a list of all that another one gave, as
    ``validation_epoch_end=validation_step``."""
    takes_encodings: bool = False
    """Of a Module: what a tokenizer gives goes into its call."""
    takes_tensors: bool = False
    """Of a Module: the tensors that it is called with meet its parameters and buffers."""
    adds_numbers_unless: frozenset[str] = frozenset()
    """Of a Module: unless it is made with one of these keywords, its tensors are added a number without dimensions that
    the inputs come to: inputs that are together on the CPU are legal."""
    takes_images: bool = False
    """Of functions: an image of PIL may stand in a tensor's place."""
    functional: bool = False
    """Of functions: named as those of `torch.nn.functional` are, losses among them."""
    number: bool = False
    """A constant that is a number."""


@dataclass(frozen=True, slots=True)
class Library:
    """One file: rows by name, rows for all names below a package, and rows for classes that share a pattern."""

    name: str
    version: str
    rows: Mapping[str, LibraryRow]
    packages: Mapping[str, LibraryRow]
    patterns: tuple[tuple[re.Pattern[str], LibraryRow], ...]
    package: str = ""
    """The package whose file it is, of one that mirrors another."""
    mirrors: str = ""
    """The package that has the same names: `pytorch_lightning` those of `lightning.pytorch`."""
    images_on_host: bool = False
    """Knows images as arrays alone: what stands beside it in a file works on the host."""
    data_on_host: bool = False
    """Reads data sets or describes molecules, without tensors: who calls it prepares data, on the host."""


@dataclass(frozen=True, slots=True)
class Keyword:
    """A keyword that says what any call does."""

    value: str
    """The value that it must have."""
    call: Effect
    methods: Mapping[str, Effect]
    """Methods that do something else with it."""


@dataclass(frozen=True, slots=True)
class Anywhere:
    """What a name means under whatever module path a project imports it from."""

    kinds: Mapping[str, str]
    """Last part of a base class's name to its kind."""
    kind_endings: tuple[tuple[str, str], ...]
    """Endings of such names, in the order in which they are tried."""
    iterated_endings: tuple[str, ...]
    """Those of which a class of the project's own is of the kind only if it is iterated: a sampler of data."""
    overloading: frozenset[str]
    """Packages with classes whose operators take tensors and give what is none."""
    contexts: frozenset[str]
    """Last parts of names of contexts under which a bare factory does not allocate on the CPU."""
    tensor_attributes: frozenset[str]
    """Attributes of a model's output that are tensors."""
    host_attributes: frozenset[str]
    """Attributes that are tensors on the CPU wherever the tensors beside them are: a ``PackedSequence`` has one."""
    frames: Mapping[str, str]
    """Attributes under whose keys tensors lie that are where their object is (``ndata``; ``nodes[].data`` of an item),
    with the row of the operation that stores one."""
    keywords: Mapping[str, Keyword]
    """By keyword: what any call with it does."""
