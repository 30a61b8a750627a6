"""The programs of `planted_runs` are what it says of them, without running any."""

from __future__ import annotations

import ast
import random

from tests.benchmarks.composing.in_forward import IN_FORWARD
from tests.benchmarks.composing.in_steps import IN_STEPS
from tests.benchmarks.composing.program import composed

TEMPLATES = len(IN_FORWARD) + len(IN_STEPS)


def test_every_template_makes_programs_with_and_without_its_bug() -> None:
    for number in range(TEMPLATES):
        planted = composed(random.Random(number), number, planted=True)
        healthy = composed(random.Random(number), number, planted=False)
        for program in (planted, healthy):
            ast.parse(program.text)
            assert not {"|||", "@born", "@met", "{d}", "{v0}"} & set(program.text.split())
        assert planted.born, (number, planted.kind)
        assert not healthy.born | healthy.met
        differing = set(planted.text.splitlines()) - set(healthy.text.splitlines())
        assert differing, (number, planted.kind)
        lines = planted.text.splitlines()
        assert any(line in differing for line in (lines[at - 1] for at in planted.born | planted.met)), number


def test_a_seed_makes_the_same_program_again() -> None:
    first, again = (composed(random.Random("7"), 12, planted=True) for _ in range(2))
    assert first == again
    assert composed(random.Random("8"), 12, planted=True).text != first.text
