"""Which findings stand for which known ones."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from devlint.gate.matching import Key, match


def key(path: str = "a.py", scope: str = "f", text: str = "x.cuda()", code: str = "DEV201") -> Key:
    return Key(path, scope, code, text)


def test_the_whole_key_comes_first() -> None:
    matched = match([key(scope="g"), key()], {key(): 1})
    assert matched.partners == (None, key())
    assert not matched.left


def test_the_last_of_more_like_ones_is_new() -> None:
    matched = match([key(), key(), key()], {key(): 2})
    assert matched.partners == (key(), key(), None)


def test_a_renamed_function_is_not_new() -> None:
    assert match([key(scope="renamed")], {key(): 1}).partners == (key(),)


def test_a_function_that_moved_to_another_file_is_not_new() -> None:
    assert match([key(path="b.py")], {key(): 1}).partners == (key(),)


def test_one_known_finding_stands_for_one_only() -> None:
    assert match([key(path="b.py"), key(path="c.py")], {key(): 1}).partners == (key(), None)


def test_the_same_path_is_preferred_then_the_same_scope() -> None:
    here, there, far = key(scope="g"), key(path="b.py"), key(path="c.py", scope="h")
    matched = match([key(path="c.py", scope="f"), key(scope="f")], Counter([here, there, far]))
    assert matched.partners == (far, here)
    matched = match([key(path="d.py", scope="f")], Counter([far, there]))
    assert matched.partners == (there,)


def test_other_text_or_another_rule_is_new() -> None:
    assert match([key(text="y.cuda()"), key(code="DEV101")], {key(): 2}).partners == (None, None)


def test_what_has_no_text_is_known_at_its_place_only() -> None:
    error = key(code="DEV901", text="", scope="")
    assert match([error], {error: 1}).partners == (error,)
    moved = Key("b.py", "", "DEV901", "")
    assert match([moved], {error: 1}).partners == (None,)


KEYS = st.builds(Key, *(st.sampled_from(names) for names in (["a", "b"], ["f", "g"], ["DEV1", "DEV2"], ["x", "y", ""])))


@given(st.lists(KEYS), st.lists(KEYS))
def test_each_known_finding_is_spent_once_and_none_is_lost(found: list[Key], known: list[Key]) -> None:
    matched = match(found, Counter(known))
    partners = Counter(partner for partner in matched.partners if partner is not None)
    assert partners + matched.left == Counter(known)
    for own, partner in zip(found, matched.partners, strict=True):
        assert partner is None or (own.code, own.text) == (partner.code, partner.text)


@given(st.lists(KEYS))
def test_what_has_not_changed_is_all_known(found: list[Key]) -> None:
    assert match(found, Counter(found)).partners == tuple(found)


@given(st.lists(KEYS), st.lists(KEYS))
def test_nothing_new_is_left_beside_something_like_it(found: list[Key], known: list[Key]) -> None:
    matched = match(found, Counter(known))
    new = {(own.code, own.text) for own, partner in zip(found, matched.partners, strict=True) if partner is None}
    assert not {pair for pair in new if pair[1]} & {(left.code, left.text) for left in matched.left}
