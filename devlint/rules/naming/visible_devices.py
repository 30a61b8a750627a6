"""The variable that hides accelerators from a process: its name, misspelt, and what its value leaves visible.

Source: NVIDIA's CUDA programming guide, "CUDA environment variables", and the functions of torch 2.13's `torch.cuda`
that initialise the driver (those that reach `_lazy_init`, `cudaGetDeviceCount` or `cudaSetDevice`).
"""

from __future__ import annotations

NAME = "CUDA_VISIBLE_DEVICES"

STARTS_CUDA = frozenset(
    f"torch.cuda.{name}"
    for name in (
        "is_available", "device_count", "init", "cudart", "set_device", "get_device_name", "get_device_capability",
        "get_device_properties", "can_device_access_peer", "current_device", "synchronize", "current_stream",
        "default_stream", "is_bf16_supported", "is_tf32_supported", "mem_get_info", "get_rng_state", "initial_seed",
        "set_per_process_memory_fraction", "seed", "Stream",
    )
)  # fmt: skip
"""Functions after which the driver has read the variable. Seeding is not among them: torch postpones it."""

_BARE = "_VISIBLE_DEVICES"


def is_misspelling(name: str) -> bool:
    """Whether a name was meant to be :data:`NAME`.

    Other vendors' variables differ in the first word (`MUSA_VISIBLE_DEVICES`, `HIP_VISIBLE_DEVICES`): where all else
    agrees, one slip in that word is allowed.
    """
    if name == NAME or abs(len(name) - len(NAME)) > 2:
        return False
    upper = name.upper()
    if upper.endswith(_BARE):
        return distance(upper.removesuffix(_BARE), "CUDA") <= 1
    # The right words in another order are no less wrong.
    return sorted(upper.split("_")) == sorted(NAME.split("_")) or distance(upper, NAME) <= 2


def distance(a: str, b: str) -> int:
    """Insertions, deletions, replacements and swaps of neighbours that make ``b`` of ``a``."""
    before: list[int] = []
    last = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, last = last, row
    return last[-1]


def visible(value: str) -> tuple[str, ...]:
    """The physical ids a value leaves visible, by their new numbers; what follows an invalid id is hidden."""
    ids: list[str] = []
    for part in value.split(","):
        name = part.strip()
        if not (name.isdecimal() or name.startswith(("GPU-", "MIG-"))):
            break
        ids.append(name)
    return tuple(ids)
