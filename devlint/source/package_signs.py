"""What the files of a package say of devices, whatever else they do: looked for in their bytes, as words are."""

from __future__ import annotations

import re

NAMES_A_DEVICE = "a device that is named"
"""A word for an accelerator, a device that is chosen or handed on, or a library that places what it is given.

`x.device`, and what is made there, names none.
"""

RUNS_ENGINES = "an engine of ignite"
"""Engines run the steps that they are given, of whoever's model: ignite moves nothing but by `ignite.distributed`, or
where a device is named."""

TRAINS = "a gradient that is zeroed"
"""A loop of its own trains a model."""

ASKS = "a test for accelerators"
"""It asks whether there is one, or has a switch that leaves it out: the package works without as well."""

WORKS_WITHOUT = "a choice between accelerators and none"
"""It asks for more than to seed, to free or to await what there is: what it does then goes on without."""

MADE_FOR_ONE = "a library that needs an accelerator"
"""The file imports one or writes kernels, speaks to other accelerators by NCCL, or asserts that there is one."""

STARTS_HERE = "processes that start on this machine"
"""It starts one process for each accelerator itself, or they meet at an address of this machine: ranks are indices."""

SPAWNS = "processes that are started anew"
"""Its processes do not inherit what the accelerator has of their parent: they may use it as any other process does."""

SETS_CURRENT = "an accelerator that becomes the current one"
"""Its processes work each on the accelerator that they set, which `cuda` without an index means from then on."""

FOLLOWS_DEFAULT = "a value that is brought to the default device"
"""What the package keeps goes where bare factories make tensors: who works on an accelerator sets that device."""

PLACES_ITEMS = "a data set whose items are on a device"
"""A data set, or what makes batches of its items, brings them over: its loader hands out what is there already."""

BUILT_IN_PLACE = "models that are built where they work"
"""A loader builds whatever model it is asked for under `with torch.device(...)`: bare factories in constructors make
tensors there, and nothing is moved later. What is built on the meta device, or as one class that is named, is none."""

SETS_DEFAULT = "a default device that is set"
"""Bare factories make tensors there from then on."""

HIDES_OTHERS = "accelerators that are hidden from the process"
"""It writes `CUDA_VISIBLE_DEVICES`: whoever chooses an accelerator chooses what the first one is."""

SEES_ONE = "actors that see one accelerator"
"""Ray gives each actor or task with `num_gpus=1` one, and hides the others from its process."""

_PATTERNS = {
    HIDES_OTHERS: re.compile(rb"\[\s*['\"]CUDA_VISIBLE_DEVICES['\"]\s*\]\s*=(?!=)"),
    SEES_ONE: re.compile(
        rb"\bray\.remote\b[\s\S]*\bnum_gpus\s*=\s*1\b(?!\.)|\bnum_gpus\s*=\s*1\b(?!\.)[\s\S]*\bray\.remote\b"
    ),
    BUILT_IN_PLACE: re.compile(
        rb"^[ \t]*with[ \t]+(?:[^\n#]*,[ \t]*)?"
        rb"(?:(?:torch|th)\.device\((?![ \t]*['\"]?(?:meta|cpu))[^\n]*\)"
        rb"|(?:\w+\.)*(?!\w*(?:meta|cpu))\w*device)[ \t]*:[ \t]*\n"
        rb"(?:[ \t]+[^\n]*\n){0,2}?[ \t]+(?:\w+\.)?\w*(?:model|net)\w*[ \t]*=[ \t]*(?:\w+\.)*[a-z_]\w*\(",
        re.M,
    ),
    SETS_DEFAULT: re.compile(rb"\b(?:torch|th)\.set_default_device\((?![ \t]*(?:['\"]cpu|None))"),
    PLACES_ITEMS: re.compile(
        rb"\bdef (?:__getitem__|\w*collate\w*)\((?:(?!\n[ \t]*(?:def|class)\b)[\s\S]){0,3000}?"
        rb"\.(?:to\(\s*(?:device=)?(?:self\.)?_?device\b|cuda\()"
    ),
    FOLLOWS_DEFAULT: re.compile(rb"\.to\(\s*(?:device=)?(?:torch|th)\.get_default_device\(\)"),
    NAMES_A_DEVICE: re.compile(
        rb"cuda|gpu|GPU|accelerat|lightning|ignite\.distributed|\bidist\b|skorch"
        rb"|(?<![.\w])device(?!\s*=\s*[\w.]+\.device\b)|_device\b|(?<![A-Z])DEVICE(?![A-Z])|\b(?:xpu|mps|npu|hpu|xla)\b"
    ),
    ASKS: re.compile(
        rb"(?<!assert torch\.)(?<!assert th\.)\b(?:cuda|accelerator)\.is_available\("
        rb"|\bno[-_](?:cuda|gpu)\b|\buse_(?:cuda|gpu)\b"
        rb"|(?<!assert )(?<!assert self\.)\bdevice(?:\.type)?\s*[!=]=\s*['\"](?:cuda|cpu)['\"]"
        rb"(?!\s*:\s+(?:raise|sys\.exit|exit)\b)"
    ),
    WORKS_WITHOUT: re.compile(
        rb"(?<!assert torch\.)(?<!assert th\.)\b(?:cuda|accelerator)\.is_available\("
        rb"(?!\)\s*:\s+(?:torch\.|th\.)?(?:cuda|accelerator)\."
        rb"(?:manual_seed|empty_cache|synchronize|ipc_collect|reset_|max_memory|memory_))"
        rb"|\bno[-_](?:cuda|gpu)\b|\buse_(?:cuda|gpu)\b"
    ),
    MADE_FOR_ONE: re.compile(
        rb"^\s*(?:import|from)\s+(?:apex|bitsandbytes|cupy|deepspeed|flash_attn|pycuda|spconv|tensorrt|vllm|xformers)\b"
        rb"|^\s*(?:import\s+numba\.cuda|from\s+numba(?:\.cuda\s|\s+import\s[^#\n]*\bcuda\b))"
        rb"|triton|tilelang|cutlass|nccl|assert torch\.cuda\.is_available|CUDAGraph|cpp_extension",
        re.M,
    ),
    STARTS_HERE: re.compile(
        rb"\b(?:mp|multiprocessing)\.(?:spawn|start_processes)\(|\btcp://(?:127\.0\.0\.1|localhost)\b"
    ),
    SPAWNS: re.compile(
        rb"\b(?:set_start_method|get_context)\(\s*(?:method\s*=\s*)?['\"](?:spawn|forkserver)['\"]"
        rb"|\bmultiprocessing_context\s*=\s*['\"](?:spawn|forkserver)['\"]"
    ),
    # An optimizer around another has a `zero_grad` as well; a loop also computes the gradients.
    TRAINS: re.compile(rb"\.zero_grad\((?=[\s\S]*\.backward\()|\.backward\((?=[\s\S]*\.zero_grad\()"),
    RUNS_ENGINES: re.compile(rb"\bignite\b"),
    # The first one is current in every process without a word.
    SETS_CURRENT: re.compile(
        rb"\b(?:cuda|accelerator|xpu|npu|musa)\.set_device(?:_index)?\("
        rb"(?!\s*(?:(?:torch|th)\.device\(\s*)?(?:0|['\"](?:cuda|xpu|npu|musa)(?::0)?['\"])\s*\))"
    ),
}


OF_LIBRARIES = frozenset({TRAINS, BUILT_IN_PLACE})
"""Signs that tell of a package where what it is made of has them: an example trains on whatever its author had."""


def has_sign(data: bytes, sign: str) -> bool:
    """Whether a text has one of these signs."""
    return _PATTERNS[sign].search(data) is not None


def is_sign(name: str) -> bool:
    """Whether it is a sign and no word: every sign has spaces."""
    return name in _PATTERNS
