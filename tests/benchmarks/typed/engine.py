"""What is asked of a type inference, and how its answers are counted.

An engine is an object with ``name`` and ``infer``. To measure a new one, write ``tests/benchmarks/kinds_NAME.py`` with
a function ``engines() -> list[Engine]``; ``kinds.py --engine NAME`` finds it there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from typed.annotation import KINDS, Kind
from typed.definitions import Place
from typed.places import Typed


class Engine(Protocol):
    """Says of parameters and results what they are."""

    @property
    def name(self) -> str:
        """As it stands in the table."""
        ...

    def infer(self, files: Mapping[str, str], asked: Collection[str]) -> Mapping[Place, Kind]:
        """What the engine claims of each parameter and result; a place of which it says nothing is left out.

        Args:
            files: The text of every file of a release without its annotations, by its path in the release (forward
                slashes). All of it may be used: imports lead from one to the other.
            asked: The paths of which something is wanted. Answers for others are not counted.

        A place is ``Place(path, qualname, name)``: ``qualname`` as in :func:`typed.definitions.functions`, ``name`` the
        parameter's, or ``"return"``. ``*args``, ``**kwargs``, ``self`` and ``cls`` are not asked for. A claim of
        ``"other"`` (certainly none of the five kinds) or ``"mixed"`` (one of several) counts as no claim.
        """
        ...


@runtime_checkable
class Graded(Protocol):
    """An engine that says as well of which of its claims it is certain."""

    @property
    def certain(self) -> Collection[Place]:
        """The places of its last answer whose claim rests on no convention."""
        ...


@dataclass(frozen=True)
class Score:
    """Of one kind: how many places are of it, how many were claimed to be, how many of these are."""

    true: int
    claimed: int
    right: int

    @property
    def recall(self) -> float | None:
        return self.right / self.true if self.true else None

    @property
    def precision(self) -> float | None:
        return self.right / self.claimed if self.claimed else None


def scores(truth: Mapping[Place, Kind], claims: Mapping[Place, Kind], results: bool) -> dict[Kind, Score]:
    """By kind, of parameters or of ``results``. Places whose annotation does not tell (``mixed``) are left out."""
    wanted = {p: k for p, k in truth.items() if (p.name == "return") == results and k != "mixed"}
    true = Counter(wanted.values())
    claimed = Counter(claims[place] for place in wanted if place in claims)
    right = Counter(kind for place, kind in wanted.items() if claims.get(place) == kind)
    return {kind: Score(true[kind], claimed[kind], right[kind]) for kind in KINDS}


def added(one: Mapping[Kind, Score], other: Mapping[Kind, Score]) -> dict[Kind, Score]:
    """The scores of two releases together."""
    return {
        kind: Score(*(a + b for a, b in zip(_counts(one[kind]), _counts(other[kind]), strict=True))) for kind in KINDS
    }


def _counts(score: Score) -> tuple[int, int, int]:
    return score.true, score.claimed, score.right


class ByParameterName:
    """The least that an engine has to beat: what a parameter is called, and nothing else."""

    name = "names"
    _TENSORS = frozenset(
        "x input inputs tensor mask target targets preds logits hidden_states attention_mask pred z weight bias query "
        "key value q k v labels image images features embeddings points img batch_index scores edge_index".split()
    )
    _MODULES = frozenset("model module net network backbone encoder decoder layer".split())

    def infer(self, files: Mapping[str, str], asked: Collection[str]) -> Mapping[Place, Kind]:
        import ast

        from typed.definitions import functions, parameters

        found: dict[Place, Kind] = {}
        for path in asked:
            for qualname, node, owner in functions(ast.parse(files[path])):
                for argument in parameters(node, owner):
                    if (kind := self._kind(argument.arg)) is not None:
                        found[Place(path, qualname, argument.arg)] = kind
        return found

    def _kind(self, name: str) -> Kind | None:
        if name in self._TENSORS:
            return "tensor"
        if name in self._MODULES:
            return "module"
        return "device" if name == "device" else None


def asked_truth(release: Typed, asked: Collection[str]) -> dict[Place, Kind]:
    """The truth of the files that are asked about."""
    return {place: kind for place, kind in release.truth.items() if place.path in asked}
