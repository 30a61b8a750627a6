"""The table of evidence: which uses of a name show what the value is, each with its grade.

Source of the attributes and methods: the public attributes of ``torch.Tensor`` that neither ``numpy.ndarray`` nor the
common Python containers, loggers and configuration objects share.
"""

from __future__ import annotations

from functools import cache
from types import MappingProxyType

from devlint import semantics
from devlint.placement.declarations import evidence_conventions as conventions
from devlint.placement.declarations.evidence_grades import Grade, Shows, Sign
from devlint.semantics import Operation

TENSOR = Sign(Shows.TENSOR)
PLACED = Sign(Shows.PLACED, Grade.CONVENTIONAL, conventions.HAS_A_DEVICE)
ARRAY = Sign(Shows.ARRAY)
DIMENSIONS = Sign(Shows.DIMENSIONS)
SHAPED = Sign(Shows.SHAPED)
MOVED = Sign(Shows.MOVED, Grade.CONVENTIONAL, conventions.MOVES_WITH_A_SHAPE)
BESIDE = Sign(Shows.BESIDE, Grade.CONVENTIONAL, conventions.BESIDE_A_CREATION)
TEXT = Sign(Shows.TEXT)
NO_TENSOR = Sign(Shows.NO_TENSOR)
ARRAY_LIKE = Sign(Shows.ARRAY_LIKE, Grade.CONVENTIONAL, conventions.HAS_A_SHAPE)
DOUBTFUL = Sign(Shows.DOUBTFUL)
SIZE = Sign(Shows.SIZE)
NO_NUMBER = Sign(Shows.NO_NUMBER)
STRUCTURED = Sign(Shows.STRUCTURED)
SEVERAL = Sign(Shows.SEVERAL)
UNPACKED = Sign(Shows.UNPACKED)
COMPUTED = Sign(Shows.COMPUTED)
TESTED = Sign(Shows.TESTED)
OTHERWISE = Sign(Shows.OTHERWISE)
MODULE = Sign(Shows.MODULE)
CALLED = Sign(Shows.CALLED)
INDEX = Sign(Shows.INDEX)
ITEMS = Sign(Shows.ITEMS, Grade.CONVENTIONAL, conventions.ITEMS_ARE_TENSORS)


def by_convention(name: str, shows: Shows = Shows.TENSOR) -> Sign:
    return Sign(shows, Grade.CONVENTIONAL, name)


TENSOR_ATTRIBUTES = frozenset({"device", "is_cuda", "is_cpu", "requires_grad", "is_sparse"})

TENSOR_METHODS = frozenset(
    """
    unsqueeze unsqueeze_ permute new_zeros new_ones new_full new_empty new_tensor type_as detach masked_fill
    masked_fill_ expand expand_as contiguous gather scatter_ scatter_add_ index_select numel dim softmax
    log_softmax sigmoid tanh exp sqrt rsqrt pow bmm mm matmul clamp clamp_ long is_floating_point is_complex
    unbind chunk topk logsumexp narrow index_add_ index_copy_ mul_ add_ sub_ div_ zero_ fill_ copy_
    is_contiguous movedim unfold repeat_interleave lerp_ view_as reshape_as masked_select scatter triu tril
    argmax_ isnan_ bool int data_ptr cumprod relu erf mul div abs abs_ neg square ceil
    addmm addbmm baddbmm addmv addcmul addcdiv as_strided broadcast_to clamp_min clamp_max det diag_embed element_size
    erfc erfinv expm1 flip fliplr flipud fmod frac index_add index_copy index_fill index_put kthvalue log1p log2 log10
    logaddexp logcumsumexp logdet logit logical_and logical_or logical_xor logical_not masked_scatter matrix_exp
    matrix_power multinomial nan_to_num ndimension nelement pinverse reciprocal remainder rot90 scatter_add
    scatter_reduce sign sin cos tan sinh cosh asin acos atan slogdet split_with_sizes swapdims tensor_split to_dense
    to_sparse trunc unflatten unique_consecutive xlogy take_along_dim bitwise_and bitwise_or bitwise_xor bitwise_not
    """.split()
)
"""Methods that make what is called by them a tensor, whatever they are given.

``shape``, ``T`` are an array's too; ``cuda``, ``cpu``, ``float``, ``half``, ``requires_grad_`` a Module's. The name
alone says nothing: ``config.dim``.
"""

TENSOR_ONLY = TENSOR_ATTRIBUTES | TENSOR_METHODS


@cache
def takes_nothing(method: str) -> bool:
    """Whether a tensor's method takes no argument: in ``xp.sin(x)`` it is a function, of a library of arrays."""
    operation = semantics.method(method)
    return isinstance(operation, Operation) and len(operation.parameters) == 1 and not operation.in_place


@cache
def first_told(method: str) -> str:
    """The name of what a tensor's method is told first: ``dim`` of ``x.softmax(dim)``; empty if it is told nothing."""
    operation = semantics.method(method)
    parameters = operation.parameters[1:] if isinstance(operation, Operation) else ()
    return parameters[0].name if parameters and not parameters[0].keyword_only else ""


MODULE_ONLY = frozenset(
    """
    parameters named_parameters zero_grad state_dict load_state_dict named_modules modules children train eval
    register_forward_hook register_forward_pre_hook register_full_backward_hook named_children named_buffers buffers
    register_buffer register_parameter register_module add_module get_submodule get_parameter get_buffer
    _parameters _buffers _modules _non_persistent_buffers_set _save_to_state_dict _load_from_state_dict
    _state_dict_hooks _load_state_dict_pre_hooks
    """.split()
)

ATTRIBUTES = MappingProxyType(
    {
        **dict.fromkeys(TENSOR_ATTRIBUTES, TENSOR),
        **dict.fromkeys(MODULE_ONLY, MODULE),
        **dict.fromkeys(("astype", "tobytes"), ARRAY),
        "device": PLACED,
        "values": SEVERAL,
        **dict.fromkeys(("to", "cuda", "cpu"), MOVED),
        **dict.fromkeys(("shape", "dtype", "ndim", "reshape"), ARRAY_LIKE),
        **dict.fromkeys(
            ("float", "transpose", "flatten", "squeeze"), by_convention(conventions.COMPUTES, Shows.TENSOR)
        ),
    }
)
"""What it shows of a name that this attribute of it is read."""

MOVING = frozenset({"to", "cuda", "cpu"})

SHAPES = frozenset({"shape", "ndim"})
COUNTS_OF_DIMENSIONS = frozenset({"ndim", "dim", "ndimension"})

TAKING_ANYTHING = frozenset({"torch.is_tensor", "torch.is_storage"})
"""Functions of torch that ask what an object is (torch/__init__.py)."""

TEXT_METHODS = frozenset(
    """
    endswith startswith lower upper casefold strip lstrip rstrip splitlines rsplit partition rpartition removeprefix
    removesuffix isdigit isalpha isnumeric zfill
    """.split()
)
"""Methods of ``str`` whose names tensors, modules, containers and configuration objects do not have."""


def of_attribute(name: str) -> Sign | None:
    """What it shows of a name that this attribute of it is read, or this method called."""
    sign = ATTRIBUTES.get(name)
    if sign is None and not name.startswith("_") and not _has_a_tensor(name):
        return NO_TENSOR
    return sign


_FORMER = frozenset({"lu", "eig", "symeig", "lstsq"})
"""Methods of a tensor that the tables have no row for: all but the first raise since torch 1.13 (torch/_tensor.py)."""


@cache
def _has_a_tensor(name: str) -> bool:
    known = semantics.method(name) is not None or semantics.is_tensor_attribute(name) is not None
    return known or name in _FORMER


KEYWORDS = MappingProxyType({"dim": TENSOR, "keepdim": TENSOR})
"""What it shows of a name that a method of it in ``REDUCTIONS`` gets this keyword: an array takes ``axis``."""

REDUCTIONS = frozenset(
    """
    sum mean max min any all std var argmax argmin norm cumsum prod sort argsort squeeze median amax amin flatten
    """.split()
)

COMPUTED_OF = by_convention(conventions.COMPUTED_OF)
COMPUTED_TOGETHER = by_convention(conventions.COMPUTED_TOGETHER)
READ_BY_A_TENSOR = by_convention(conventions.READ_BY_A_TENSOR)
MATRIX = by_convention(conventions.HAS_A_SHAPE, Shows.ARRAY_LIKE)
SUBTRACTED = by_convention(conventions.SUBTRACTED)
MADE_WHERE_NONE = by_convention(conventions.MADE_WHERE_NONE)
GIVEN_TO_A_DISTRIBUTION = by_convention(conventions.GIVEN_TO_A_DISTRIBUTION)

MOVING_OR_CAST = frozenset({"float", "half", "double", "cpu", "cuda"})
"""Methods of tensors and Modules alone: what they are called by is a tensor if it is computed."""

COMPUTED_FROM = REDUCTIONS | frozenset(
    """
    abs round clip square reshape transpose swapaxes view permute dot repeat diagonal cumsum
    """.split()
)
"""Methods of a tensor that what is none may have as well, but then gives none: ``x.sum(axis=1).float()`` shows x."""

OF_MASKS = frozenset({"any", "all", "nonzero"})
"""Methods of arrays and tensors that ask what of them is true."""

PASSING = frozenset(
    """
    cpu cuda to float double half clone detach
    argmax argmin clamp reshape flatten squeeze permute transpose
    """.split()
)
"""Methods of a tensor and of what is none that give a tensor for a tensor: ``x.cpu().numpy()`` shows something of x.

So do those of an array: ``x.argmax(0).numpy()``.
"""

SIZED = frozenset(
    """
    torch.zeros torch.ones torch.empty torch.rand torch.randn torch.randint torch.randperm torch.arange torch.eye
    torch.nn.Linear torch.nn.LazyLinear torch.nn.Conv1d torch.nn.Conv2d torch.nn.Conv3d torch.nn.ConvTranspose1d
    torch.nn.ConvTranspose2d torch.nn.BatchNorm1d torch.nn.BatchNorm2d torch.nn.BatchNorm3d torch.nn.LayerNorm
    torch.nn.GroupNorm torch.nn.InstanceNorm2d torch.nn.Embedding torch.nn.LSTM torch.nn.GRU torch.nn.Dropout
    torch.nn.MultiheadAttention torch.Size
    """.split()
)
"""Functions and classes whose positional arguments are sizes."""

NO_SIZES = frozenset({"device", "dtype", "out", "generator", "layout"})
"""Keywords of those that are no size, number or switch."""

SIZING = frozenset({"view", "reshape", "expand", "repeat", "new_zeros", "new_ones", "new_empty", "unflatten"})
"""Methods of a tensor whose positional arguments are sizes, where several are given."""

OF_TEXTS = frozenset(
    """
    pathlib re os json base64 shutil glob csv string textwrap urllib hashlib html shlex subprocess zipfile tarfile
    tempfile unicodedata difflib fnmatch PIL nltk
    """.split()
)
"""Packages whose functions take texts, paths and images, and no tensor."""

TAKES_A_TEXT = MappingProxyType(
    {
        **dict.fromkeys(("getattr", "hasattr", "setattr", "delattr", "torch.hub.load"), 1),
        **dict.fromkeys(("timm.create_model", "importlib.import_module", "torchvision.models.get_model"), 0),
        **dict.fromkeys((".startswith", ".endswith", ".removeprefix", ".removesuffix"), 0),
    }
)
"""Functions, and methods of whatever has them, with the position of an argument that is a text."""

READING_ATTRIBUTES = frozenset({"getattr", "hasattr"})

DOUBTS = frozenset(
    """
    isinstance issubclass hasattr getattr str int float open range len enumerate zip list tuple set sorted iter
    """.split()
)
"""Builtin functions that ask what a value is, or that plain values and containers are handed to."""

GONE_THROUGH = frozenset({"enumerate", "zip", "list", "tuple", "sorted", "reversed", "iter", "map"})
"""Builtin functions that go through what they are given item by item."""

CALLING = frozenset({"map", "filter"})
"""Builtin functions that call their first argument."""

JOINING = frozenset(
    """
    torch.cat torch.concat torch.concatenate torch.stack torch.hstack torch.vstack torch.dstack torch.column_stack
    torch.row_stack torch.nn.utils.rnn.pad_sequence torch.nn.utils.rnn.pack_sequence torch.nested.nested_tensor
    """.split()
)
"""Functions whose first argument is a sequence of tensors."""

CONVERSIONS = MappingProxyType(
    {
        "torch.from_numpy": ARRAY,
        "torch.tensor": Sign(Shows.CONVERTED),
        "torch.as_tensor": Sign(Shows.CONVERTED, Grade.CONVENTIONAL),
        "torch.asarray": Sign(Shows.CONVERTED, Grade.CONVENTIONAL),
    }
)
"""What it shows of a name that it is handed to this function. ``as_tensor`` is called on tensors as well."""

READ_BY_METHODS = frozenset("index mask mat2 vec src source tensor1 tensor2 batch1 batch2".split())
"""Names of parameters of a tensor's methods that take tensors."""

ALWAYS_TENSORS = frozenset(
    """
    index mask mat1 mat2 batch1 batch2 target vec2 query key value source weight condition indices x1 x2 src
    bias running_mean running_var B attn_mask weights end mat vec tensor1 tensor2
    """.split()
)
"""Parameters of torch's functions that never take a number."""

NEVER_NUMBERS = frozenset({"condition"})
"""Parameters that take a tensor without dimensions, and no number: that of ``torch.where``."""

VARIADIC = frozenset(
    "torch.einsum torch.broadcast_tensors torch.block_diag torch.meshgrid torch.cartesian_prod".split()
)
"""Functions whose further arguments are tensors as well."""

OF_TWO_TENSORS = frozenset(
    """
    torch.matmul torch.maximum torch.minimum torch.fmax torch.fmin torch.kron torch.cross torch.inner torch.equal
    torch.allclose torch.isclose torch.atan2 torch.hypot torch.dist torch.logical_and torch.logical_or
    """.split()
)
"""Functions whose ``other`` is no number."""

INTEGERS = frozenset(
    "torch.long torch.int64 torch.int32 torch.int torch.int16 torch.int8 torch.uint8 torch.bool".split()
)
"""No Module is moved to these types: its ``to`` takes types of floating point and complex ones."""

NEVER_READ = frozenset(
    """
    dim size stride norm split type mean std min max sum index_select bool int float long half double item numpy exp log
    sort unique round clip square sqrt sin cos where repeat expand flatten squeeze transpose scatter gather
    is_floating_point is_complex numel contiguous softmax sigmoid detach clone
    """.split()
)
"""Methods of a tensor: what has one that is read and not called is none."""

NUMPY_READS = Sign(Shows.ARRAY, Grade.CONVENTIONAL)
"""Of what is handed to a function of numpy: an array as a rule."""
