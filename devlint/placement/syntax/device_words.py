"""Words of names and conditions that speak of accelerators.

Backends with a short name are looked for as whole words only: ``npu`` stands in ``input``, ``mps`` in ``timestamps``.
"""

from __future__ import annotations

import re
from functools import lru_cache

_BACKENDS = ("xpu", "npu", "hpu", "mps", "mlu", "musa", "xla", "ipu")
_MAKERS = ("cuda", "gpu", "nccl", "triton", "nvidia", "tensorrt", "rocm", "flash")
_MADE_FOR = ("xpu", "npu", "hpu", "trt")


def _pattern(anywhere: tuple[str, ...], words: tuple[str, ...]) -> re.Pattern[str]:
    """Texts with a word, or with one of ``anywhere`` inside of a word; in camel case a word begins with a capital."""
    lower = "|".join(words)
    capital = "|".join(form for word in words for form in (word.upper(), word.capitalize()))
    return re.compile(
        rf"(?i:{'|'.join(anywhere)})|(?<![A-Za-z])(?:{lower})s?(?![a-z])|(?<![A-Z])(?:{capital})s?(?![a-z])"
    )


_CPU_ALONE = r"(?:^|[ .(_])cpu(?![a-z_(])"
"""A switch: ``args.cpu``, ``not use_cpu``. Neither ``x.cpu()`` nor ``cpu_count`` asks for a device."""

_SPEAKS_OF_DEVICES = _pattern(
    ("cuda", "gpu", "rocm", "device", "accelerator", r"\.is_cpu", r"[\"']cpu\b", _CPU_ALONE), _BACKENDS
)
_NAMED_FOR_ONE = _pattern(_MAKERS, _MADE_FOR)


@lru_cache(4096)
def speaks_of_devices(text: str) -> bool:
    """Whether a condition, as it is written, may decide by what devices there are or where something is."""
    # An object named accelerator has attributes of all kinds: `accelerator.is_main_process`.
    return _SPEAKS_OF_DEVICES.search(text.replace("accelerator.", "")) is not None


@lru_cache(4096)
def is_named_for_accelerator(qualname: str) -> bool:
    """Whether a function or class is made for one accelerator and says so in its name."""
    return _NAMED_FOR_ONE.search(qualname) is not None


_NAMED_FOR_HOST = re.compile(r"(?:^|[_.2]|to)(?:cpu|host|numpy)(?:[_.]|$)", re.IGNORECASE)


@lru_cache(4096)
def is_named_for_host(name: str) -> bool:
    """Whether a function says in its name that its result is on the host: ``to_cpu``, ``gpu2cpu``, ``as_numpy``."""
    return _NAMED_FOR_HOST.search(name) is not None


_WORKS_ON_CPU = re.compile(r"(?:^|_)cpu_[a-z]|(?:^|_)(?:mkldnn|onednn)(?:_|$)")


@lru_cache(4096)
def works_on_cpu_by_name(name: str) -> bool:
    """Whether a function says that it works on the CPU: ``_create_cpu_state``, ``mkldnn_lstm``, for kernels of the CPU.

    One that asks whether something is there, or speaks of accelerators as well, does not.
    """
    return _WORKS_ON_CPU.search(name) is not None and not (
        name.lstrip("_").startswith("is_") or is_named_for_accelerator(name)
    )


def is_kept_on_cpu_by_name(path: str) -> bool:
    """``self.lengths_cpu``, ``query_lens_cpu``: what is kept there on purpose, beside what is elsewhere."""
    return path.lower().rpartition(".")[2].endswith("_cpu")


_INDICES = frozenset({"device", "device_id", "gpu", "gpu_id", "cuda", "cuda_id", "device_index", "gpu_index"})
_COUNTS = frozenset({"n_gpu", "n_gpus", "num_gpu", "num_gpus", "gpus", "ngpu", "ngpus", "gpu_count"})


def names_a_device_index(name: str) -> bool:
    """``self.device_id``: a number of a device, where -1 stands for the CPU."""
    return name.lower() in _INDICES


def names_a_device_count(name: str) -> bool:
    """``args.n_gpu``: how many accelerators there are, or may be used."""
    return name.lower() in _COUNTS
