"""Samplers and loaders: which of them draw random numbers on the default device, and with whose generator."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from devlint.semantics import tables

GENERATOR = "torch.Generator"
CLASH = "generator"
"""The kind of the error a draw with another device's generator raises (``tables/errors.json``)."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """What a call of ``name`` draws with. ``tables/samplers.json`` explains the fields.

    ``position`` is that of the parameter ``generator``; ``at_once``: the call itself draws, not the iteration after it.
    ``makes_cpu_generator``: without a generator it draws with one of the CPU, if ``only_if`` (when not empty) is true.
    """

    name: str
    position: int
    at_once: bool
    makes_cpu_generator: bool
    only_if: str
    only_if_position: int
    inherits: bool


@cache
def sampling(qualified: str) -> Sampling | None:
    """What is known of a sampler, loader or split by its full name; None when nothing is."""
    row = tables.row("samplers", qualified)
    if row is None:
        return None
    return Sampling(
        qualified,
        row["position"],
        row["draws"] == "call",
        row["without"] == "cpu",
        row.get("only_if", ""),
        row.get("only_if_position", 0),
        row.get("inherits", False),
    )
