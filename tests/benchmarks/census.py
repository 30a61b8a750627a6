"""What devlint knows of the operands of tensor operations, transfers and module calls, over releases; and why no more.

    python tests/benchmarks/census.py timm==1.0.31 kornia==0.9.0      releases, downloaded without dependencies
    python tests/benchmarks/census.py path/to/package                 or directories; nothing is imported
    python tests/benchmarks/census.py --all-pinned                    the releases that releases.py pins
    ... --sample 60 --seed 1                                          at most so many files of each
    ... --top 20 --examples 3                                         causes and subjects listed, with places

An operand is *known* if devlint holds it to be a tensor (a module, or a container of them) on a known device by what is
certain; *conventional* if by a convention, or if its kind is not known and its device is; *unknown* otherwise, and then
it counts under the root cause that ``devlint explain`` would give. Sizes, numbers, dtypes and devices are no operands:
neither what is known to be one, nor what stands where the tables have one.

Sites: calls of functions that the tables call operations; calls of their methods on anything but plain values; binary
operators of which one operand at least is held to be a tensor; ``to``, ``cuda`` and ``cpu``; calls of modules, and of
attributes of a Module's ``self`` that are not known.
"""

from __future__ import annotations

import argparse
import gc
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import libcst as cst
from downloads import DEFAULT_CACHE, checked_cache
from linting import linted_files
from mutants import release_of
from releases import RELEASES

from devlint import semantics
from devlint.configuration.config import Configuration, Overrides
from devlint.pipeline.deep_stack import deep_stack
from devlint.pipeline.explanation import NotExplained, Record, recorded
from devlint.pipeline.planning import Planner
from devlint.placement.domain.abstract_values import (
    Container,
    Evidence,
    Module,
    Opaque,
    Reference,
    Self,
    Tensor,
    UnknownValue,
    Value,
)
from devlint.placement.explanation.causes import is_unknown
from devlint.placement.syntax.nodes import code_of
from devlint.semantics import Operation, Parameter
from devlint.source.decoding import Source
from devlint.source.screen import may_hold_findings
from devlint.source.source_file import read_source
from devlint.source.tree import WorkingTree

TRANSFERS = ("to", "cuda", "cpu")
SITES = ("operation", "method", "operator", "transfer", "module call")
STATES = ("known", "conventional", "unknown")


@dataclass(frozen=True)
class Operand:
    """One operand of one site. ``cause`` and ``subject`` are empty unless it is unknown."""

    site: str
    state: str
    cause: str
    subject: str
    place: str


def operands(record: Record, shown: str) -> Iterator[Operand]:
    for node in record.evaluated:
        for site, parts in _sites(node, record):
            for part in parts:
                evaluated = record.evaluated.get(part)
                state = None if evaluated is None else _state(evaluated.value)
                if state is None:
                    continue
                cause, subject = _root(part, record) if state == "unknown" else ("", "")
                place = record.positions.place(part)
                yield Operand(site, state, cause, subject, f"{shown}:{place.line}:{place.column}")


def _root(node: cst.BaseExpression, record: Record) -> tuple[str, str]:
    """The root cause and its subject; of a container, those of its first unknown item."""
    for one in (node, *_items(node)):
        root = record.reasons.root(one)
        if root is not None:
            return root.cause.label, root.subject
    return "item", code_of(node)


def _items(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    return [element.value for element in node.elements] if isinstance(node, (cst.List, cst.Tuple)) else []


def _state(value: Value) -> str | None:
    """None for what is no operand."""
    if isinstance(value, Container):
        states = [_state(item) for item in (*value.items, *([value.rest] if value.rest is not None else []))]
        found = [state for state in states if state is not None]
        return max(found, key=STATES.index) if found else None
    if isinstance(value, UnknownValue) or is_unknown(value):
        return "unknown"
    if isinstance(value, Tensor):
        return "known" if value.evidence is Evidence.CERTAIN else "conventional"
    if isinstance(value, Opaque):
        return "conventional"
    return "known" if isinstance(value, Module) else None


def _sites(node: cst.BaseExpression, record: Record) -> Iterator[tuple[str, list[cst.BaseExpression]]]:
    if isinstance(node, cst.BinaryOperation):
        parts = list(_leaves(node))
        values = [record.evaluated[part].value for part in parts if part in record.evaluated]
        if any(isinstance(value, (Tensor, Opaque)) for value in values):
            yield "operator", parts
    elif isinstance(node, cst.Call):
        arguments = [argument.value for argument in node.args]
        callee, name = _value(node.func, record), _library_name(node.func, record)
        if name is not None:
            known = semantics.function(name)
            if isinstance(known, Operation):
                yield "operation", list(_tensors_of(known.parameters, node))
        elif isinstance(callee, Module):
            yield "module call", arguments
        elif isinstance(node.func, cst.Attribute):
            yield from _of_method(node, node.func, record)


def _of_method(
    node: cst.Call, function: cst.Attribute, record: Record
) -> Iterator[tuple[str, list[cst.BaseExpression]]]:
    receiver, name = _value(function.value, record), function.attr.value
    if isinstance(receiver, Self):
        unknown = isinstance(_value(function, record), (UnknownValue, type(None)))
        given = receiver.info.is_module and receiver.info.method(name) is None and name not in _OF_MODULES
        if unknown and given and not name.startswith("__"):
            yield "module call", [function, *(argument.value for argument in node.args)]
    elif name in TRANSFERS:
        yield "transfer", [function.value]
    elif isinstance(receiver, (Tensor, Opaque, UnknownValue)):
        known = semantics.method(name)
        if isinstance(known, Operation) and name not in _OF_OTHERS:
            yield "method", [function.value, *_tensors_of(known.parameters[1:], node)]


def _tensors_of(parameters: Sequence[Parameter], call: cst.Call) -> Iterator[cst.BaseExpression]:
    """The arguments that stand where the tables have a tensor: no sizes and no dimensions."""
    ordered = [parameter for parameter in parameters if not parameter.keyword_only]
    named = {name: parameter for parameter in parameters for name in (parameter.name, *parameter.also)}
    for position, argument in enumerate(call.args):
        if argument.keyword is not None:
            parameter = named.get(argument.keyword.value)
        else:
            parameter = ordered[min(position, len(ordered) - 1)] if ordered else None
        if argument.star == "**" or parameter is None or parameter.kind != "other" or parameter.also:
            yield argument.value


_OF_MODULES = frozenset(
    """
    apply children named_children modules named_modules parameters named_parameters buffers named_buffers state_dict
    load_state_dict zero_grad requires_grad_ get_submodule get_parameter get_buffer register_buffer register_parameter
    register_module add_module train eval half float double bfloat16 extra_repr share_memory compile
    """.split()
)
"""Methods of every Module, which are called on ``self`` and compute nothing."""

_OF_OTHERS = frozenset(
    {"copy", "split", "index", "sort", "get", "add", "update", "item", "size", "format", "min", "max"}
)
"""Methods that strings, lists, dicts and sets have as well."""


def _library_name(function: cst.BaseExpression, record: Record) -> str | None:
    """The full name of a function of a library; None for any other callee."""
    callee = _value(function, record)
    if isinstance(callee, Reference):
        return callee.name
    owner = _value(function.value, record) if isinstance(function, cst.Attribute) else None
    return f"{owner.name}.{function.attr.value}" if isinstance(owner, Reference) else None  # type: ignore[union-attr]


def _leaves(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    while isinstance(node, cst.BinaryOperation):
        yield node.right
        node = node.left
    yield node


def _value(node: cst.BaseExpression, record: Record) -> Value | None:
    evaluated = record.evaluated.get(node)
    return None if evaluated is None else evaluated.value


def of_release(name: str, directory: Path, options: argparse.Namespace) -> Iterator[Operand]:
    files = [path for path in linted_files(directory) if may_hold_findings(_source(directory / path))]
    drawn = sorted(random.Random(f"{options.seed} {name}").sample(files, min(options.sample, len(files))))
    planner = Planner(Configuration(Overrides({}, None, isolated=True), directory), directory, ignore_noqa=True)
    tree = WorkingTree()
    for path in drawn:
        try:
            with recorded(planner.task(str(directory / path)), tree) as record:
                yield from operands(record, f"{name} {path}")
        except NotExplained as error:
            print(f"{name} {path}: {error}", file=sys.stderr)
        gc.collect()  # what runs with a deep stack runs without the collector, and whole trees are much


def _source(path: Path) -> Source:
    return read_source(str(path), path.read_bytes())


def print_table(found: list[Operand]) -> None:
    print(f"\n{'site':12} {'operands':>9} " + " ".join(f"{state:>13}" for state in STATES))
    for site in (*SITES, "all"):
        own = [operand for operand in found if site in (operand.site, "all")]
        counts = Counter(operand.state for operand in own)
        shares = " ".join(f"{100 * counts[state] / max(len(own), 1):11.1f} %" for state in STATES)
        print(f"{site:12} {len(own):9} {shares}")


def print_causes(found: list[Operand], top: int, examples: int) -> None:
    unknown = [operand for operand in found if operand.state == "unknown"]
    by_cause: dict[str, list[Operand]] = defaultdict(list)
    for operand in unknown:
        by_cause[operand.cause].append(operand)
    for cause, own in sorted(by_cause.items(), key=lambda item: -len(item[1])):
        print(f"\n{cause}: {len(own)} ({100 * len(own) / len(unknown):.1f} % of the unknown)")
        subjects: dict[str, list[Operand]] = defaultdict(list)
        for operand in own:
            subjects[operand.subject].append(operand)
        for subject, of_it in sorted(subjects.items(), key=lambda item: -len(item[1]))[:top]:
            places = ", ".join(operand.place for operand in of_it[:: max(len(of_it) // examples, 1)][:examples])
            print(f"{len(of_it):7}  {subject[:50]:50} {places}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("releases", nargs="*", metavar="RELEASE", help="name==version, or a directory")
    parser.add_argument("--all-pinned", action="store_true")
    parser.add_argument("--sample", type=int, default=60, metavar="N", help="files a release [default: %(default)s]")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--top", type=int, default=12, metavar="N")
    parser.add_argument("--examples", type=int, default=2, metavar="N")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    options = parser.parse_args()
    if not options.releases and not options.all_pinned:
        parser.error("give a release (name==version) or a directory, or --all-pinned")
    if min(options.sample, options.top, options.examples) < 1:
        parser.error("--sample, --top and --examples are at least 1")
    return options


def census(options: argparse.Namespace) -> None:
    pinned = [f"{name}=={version}" for name, version in RELEASES.items()] if options.all_pinned else []
    found: list[Operand] = []
    for given in [*options.releases, *pinned]:
        name, directory = release_of(given, options.cache)
        own = list(of_release(name, directory, options))
        unknown = sum(operand.state == "unknown" for operand in own)
        print(f"{name:28} {len(own):7} operands, {100 * unknown / max(len(own), 1):5.1f} % unknown", flush=True)
        found += own
    print_table(found)
    print_causes(found, options.top, options.examples)


def main() -> None:
    options = arguments()
    checked_cache(options.cache)
    with deep_stack(lambda: census(options)) as thread:
        thread.join()


if __name__ == "__main__":
    main()
