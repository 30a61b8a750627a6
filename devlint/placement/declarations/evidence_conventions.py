"""The conventions: what is assumed of a value where knowledge ends, and when.

A convention speaks only where nothing is known. A finding that rests on one has medium confidence at most, and its
trace says which one in these words.
"""

from __future__ import annotations

from types import MappingProxyType

SIZE_IS_CALLED = "size-is-called"
SIZES_A_CREATION = "sizes-a-creation"
BESIDE_A_CREATION = "beside-a-creation"
IS_BACKPROPAGATED = "is-backpropagated"
GIVES_AN_ARRAY = "gives-an-array"
HAS_A_DEVICE = "has-a-device"
MOVES_WITH_A_SHAPE = "moves-with-a-shape"
DOCUMENTED = "documented"
ITEMS_ARE_TENSORS = "items-are-tensors"
MODULE_RESULT = "module-result"
CALLED_BY_MODULE = "called-by-module"
OF_A_MODULE_CLASS = "of-a-module-class"
HAS_WHAT_LAYERS_HAVE = "has-what-layers-have"
HAS_A_MODULE = "has-a-module"
HAS_MEMBERS = "has-members"
DOCUMENTED_MODULE = "documented-module"
NAMED_PART = "named-part"
GIVES_A_PART = "gives-a-part"
CALLABLE_RESULT = "callable-result"
BESIDE_BATCHES = "beside-batches"
MAKES_BY_DEFAULT = "makes-by-default"
MADE_OF_AN_IMAGE = "made-of-an-image"
OF_ANOTHER_CLASS = "of-another-class"
TOLD_A_DEVICE = "told-a-device"
KEPT_BY_METHODS = "kept-by-methods"
HAS_A_SHAPE = "has-a-shape"
COMPUTES = "computes"
COMPUTED_OF = "computed-of"
COMPUTED_TOGETHER = "computed-together"
READ_BY_A_TENSOR = "read-by-a-tensor"
HANDED_TO_A_PART = "handed-to-a-part"
SUBTRACTED = "subtracted"
MADE_WHERE_NONE = "made-where-none"
GRADIENT = "gradient"
SAVED_FOR_BACKWARD = "saved-for-backward"
GIVEN_BY_CALLERS = "given-by-callers"
GIVEN_TO_A_DISTRIBUTION = "given-to-a-distribution"
HANDED_TO_A_MODULE = "handed-to-a-module"
HANDED_ON = "handed-on"
NAMED = "named"
NAMED_MODULE = "named-module"
NAMED_STATE = "named-state"
NAMED_AFTER = "named-after"
GIVEN_BY_A_MAKER = "given-by-a-maker"
OVERRIDES = "overrides"
COLLATED = "collated"
OBSERVED = "observed"
PARTS_OF_A_BATCH = "parts-of-a-batch"
NAMED_LAYERS = "named-layers"

CONVENTIONS = MappingProxyType(
    {
        SIZE_IS_CALLED: "taken for a tensor: its `size` is called",
        SIZES_A_CREATION: "taken for a tensor: its shape is the size of a tensor made beside it",
        BESIDE_A_CREATION: "taken for a tensor: it has a shape, and is computed with a tensor made beside it",
        IS_BACKPROPAGATED: "taken for a tensor: `backward` is called without arguments",
        GIVES_AN_ARRAY: "taken for a tensor: `numpy` is called",
        HAS_A_DEVICE: "taken for a tensor: its `device` is read",
        MOVES_WITH_A_SHAPE: "taken for a tensor: it has a shape, and a method that moves it",
        DOCUMENTED: "taken for a tensor: the docstring says so",
        ITEMS_ARE_TENSORS: "taken for tensors of the caller: each item is used as one, and none is moved",
        MODULE_RESULT: "taken for a tensor beside the module's parameters: a method of the module gives it",
        HAS_A_SHAPE: "taken for a tensor: it has a shape, and the file imports no library of arrays",
        COMPUTES: "taken for a tensor: its methods are a tensor's",
        COMPUTED_OF: "taken for a tensor: what is computed of it is used as only tensors can be",
        COMPUTED_TOGETHER: "taken for a tensor: what is computed of it and others is used as only tensors can be",
        SUBTRACTED: "taken for a tensor: it is subtracted from one, or one from it",
        MADE_WHERE_NONE: "taken for a tensor: one is made where none is given",
        GIVEN_TO_A_DISTRIBUTION: "taken for a tensor: its probability is asked for",
        GIVEN_BY_CALLERS: "taken for what its callers in the file give",
        SAVED_FOR_BACKWARD: "taken for a tensor where the gradients are: the forward pass saved it",
        GRADIENT: "taken for a tensor: autograd calls it with gradients",
        HANDED_TO_A_MODULE: "taken for a tensor: it is handed to what is called as modules are",
        HANDED_ON: "taken for what a function takes it for that it is passed to",
        NAMED: "taken for a tensor: it is called what tensors are called",
        NAMED_MODULE: "taken for a module: it is called what modules are called",
        NAMED_STATE: "taken for the parameters or buffers of a module, each with its name: it is called like those",
        HANDED_TO_A_PART: "taken for a tensor: the Module hands it to a part that it keeps",
        READ_BY_A_TENSOR: "taken for a tensor: it is given to a method of one",
        OVERRIDES: "taken for what the method of the base class, or of a derived one, takes it for",
        NAMED_AFTER: "taken for a module: it is called what a class of modules in sight is called",
        GIVEN_BY_A_MAKER: "taken for a module: the function that gives it is called as those are that make one",
        PARTS_OF_A_BATCH: "taken for a tensor: one of several that a loader hands out together, and moved by itself",
        NAMED_LAYERS: "taken for modules: the list is called what layers are called, and what lies in it is called",
        COLLATED: "taken to be on the CPU: a loader hands it out",
        OBSERVED: "its data are taken to be on the host: a simulated environment gives them",
        CALLED_BY_MODULE: "taken for a module: the Module that keeps it calls it",
        OF_A_MODULE_CLASS: "taken for a module: it is asked whether it is one, or one is made where none is given",
        HAS_WHAT_LAYERS_HAVE: "taken for a module: attributes are read that layers have",
        HAS_A_MODULE: "taken for a module: it is moved or called, and an attribute of it is a module",
        HAS_MEMBERS: "taken for a module: it has what the classes of modules in sight have",
        DOCUMENTED_MODULE: "taken for a module: the docstring names a class of modules",
        NAMED_PART: "taken for a module: it is called, and its name is that of a part of a model",
        GIVES_A_PART: "taken for a module: the method that gives it is named after a part of a model",
        TOLD_A_DEVICE: "taken to be there: the function that gives it is told the device",
        KEPT_BY_METHODS: "taken for a tensor beside the module's parameters: one of its methods stores it",
        CALLABLE_RESULT: "taken to be where its arguments are: a callable of unknown type gives it",
        OF_ANOTHER_CLASS: "taken for an object with its tensors in one place: what is read of it no tensor has",
        BESIDE_BATCHES: "taken to be where items of the batch are moved: a model gives it",
        MAKES_BY_DEFAULT: "taken for the function that makes it by default",
        MADE_OF_AN_IMAGE: "taken for a tensor on the CPU: a transform makes it of an image",
    }
)
"""Convention to the words of the trace: what is assumed, and when."""

_OPTIONS = frozenset("args arg config cfg conf opt opts options hparams settings flags namespace".split())
"""Names of what a program was told by its user: its command line, its configuration."""


def names_options(name: str) -> bool:
    return name.lower().rpartition("_")[2] in _OPTIONS


_CONFIGURATIONS = _OPTIONS | frozenset(
    "params trainer agent learner runner solver engine accelerator env ctx context state self cls".split()
)
"""Names of objects that keep a device which their user chose; it may be spelled without an index."""


def names_a_configuration(name: str) -> bool:
    return name in _CONFIGURATIONS or name.rpartition("_")[2] in _CONFIGURATIONS


_BATCHES = frozenset({"inputs", "sample", "samples", "examples", "minibatch"})


def names_a_batch(name: str) -> bool:
    """Whether a name says that the items it holds came together from a loader."""
    return "batch" in name or name in _BATCHES


_LOADERS = ("load", "data", "set", "iter", "train", "test", "valid", "queue", "stream", "gen", "source")


def names_a_loader(name: str) -> bool:
    """Whether a name says that its items are read one after the other, as a rule on the CPU."""
    return any(part in name.lower() for part in _LOADERS)


_BRINGING = ("device", "cuda", "gpu", "prefetch", "prepared")


def draws_from_a_loader(source: str) -> bool:
    """Whether what is drawn from an expression comes from a loader, which collates numbers into tensors on the CPU.

    It is known by its name, or by the call that makes it where that is in sight; one that brings its batches to a
    device is named for it.
    """
    lowered = source.lower()
    return any(word in lowered for word in ("loader", "batches")) and not any(word in lowered for word in _BRINGING)
