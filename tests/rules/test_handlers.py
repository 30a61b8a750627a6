"""A method of a rule that looks like a handler and handles nothing is an error when the rules are loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint.placement.domain.events import Created, DeviceMismatch, DeviceNamed, Moved
from devlint.rules.handlers import EVENT_OF_HANDLER
from devlint.rules.registry import precedence, rule_classes
from tests.rules.temporary_rules import HEADER, rule_file, rules_beside

BODY_LINE = HEADER.count("\n") + 1
"""Where the first line of a rule's body stands in its file."""

REFUSED = {
    "a letter is missing": (
        "def device_nmed(self, event: DeviceNamed) -> Iterable[Draft]:\n    return ()",
        "takes the event DeviceNamed; name it `device_named`",
    ),
    "name and annotation have the slip": (
        "def device_nmed(self, event: DeviceNmed) -> Iterable[Draft]:\n    return ()",
        "handles no event; the nearest event is DeviceNamed, handled by `device_named`",
    ),
    "the name of the type": (
        "def DeviceNamed(self, event: DeviceNamed) -> Iterable[Draft]:\n    return ()",
        "takes the event DeviceNamed; name it `device_named`",
    ),
    "another tense": (
        "def move(self, event) -> Iterable[Draft]:\n    return ()",
        "handles no event; the nearest event is Moved, handled by `moved`",
    ),
    "a prefix": (
        "def on_created(self, event: Created) -> Iterable[Draft]:\n    return ()",
        "takes the event Created; name it `created`",
    ),
    "the annotation is another event": (
        "def created(self, event: Moved) -> Iterable[Draft]:\n    return ()",
        "is the handler of Created; write `def created(self, event: Created)`",
    ),
    "no annotation": (
        "def created(self, event) -> Iterable[Draft]:\n    return ()",
        "is the handler of Created; write `def created(self, event: Created)`",
    ),
    "two events": (
        "def created(self, event: Created | Moved) -> Iterable[Draft]:\n    return ()",
        "is the handler of Created; write `def created(self, event: Created)`",
    ),
    "the base of all events": (
        "def created(self, event: events.Event) -> Iterable[Draft]:\n    return ()",
        "is the handler of Created; write `def created(self, event: Created)`",
    ),
    "another parameter": (
        "def created(self, event: Created, deep: bool = False) -> Iterable[Draft]:\n    return ()",
        "is the handler of Created; write `def created(self, event: Created)`",
    ),
    "no parameter": (
        "def created(self) -> Iterable[Draft]:\n    return ()",
        "is the handler of Created; write `def created(self, event: Created)`",
    ),
    "any parameters": (
        "def created(self, event: Created, *more: object) -> Iterable[Draft]:\n    return ()",
        "is the handler of Created; write `def created(self, event: Created)`",
    ),
    "a claim": (
        "def claims(self, event: DeviceMismatch) -> Iterable[Draft]:\n    return ()",
        "takes the event DeviceMismatch; name it `device_mismatch`",
    ),
    "a claim without annotation": (
        "def clam(self, event) -> Iterable[Draft]:\n    return ()",
        "handles no event; the nearest is `claim`",
    ),
    "the end": (
        "def finished(self) -> Iterable[Draft]:\n    return ()",
        "handles no event; the nearest is `finish`",
    ),
    "a public helper": (
        "def is_certain(self, draft: Draft) -> bool:\n    return True",
        "What is no handler begins with an underscore: `_is_certain`",
    ),
    "a static method": (
        "@staticmethod\ndef created(event: Created) -> Iterable[Draft]:\n    return ()",
        "is no method; the nearest event is Created",
    ),
    "a property": (
        "@property\ndef created(self) -> Iterable[Draft]:\n    return ()",
        "is no method; the nearest event is Created",
    ),
    "a declaration with a slip": (
        'claim_before = ("DEV101",)',
        "is no method; the nearest is `claims_before`",
    ),
    "an annotated declaration with a slip": (
        "given_way_to: tuple[str, ...]",
        "is no method; the nearest is `gives_way_to`",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_handles_no_event_is_refused_by_file_and_method(name: str, tmp_path: Path) -> None:
    body, reason = REFUSED[name]
    path = rule_file(tmp_path / "extra", body)
    with rules_beside(tmp_path), pytest.raises(TypeError) as refused:
        rule_classes()
    message = str(refused.value)
    assert message.startswith(str(path))
    assert reason in message
    if body.startswith("def "):
        method = body.partition("(")[0].removeprefix("def ")
        assert message.startswith(f"{path}:{BODY_LINE}: Temporary.{method} ")


ACCEPTED = {
    "handlers": (
        "def created(self, event: Created) -> Iterable[Draft]:\n    return ()\n\n"
        "def device_named(self, event: DeviceNamed) -> Iterable[Draft]:\n    return ()",
        {Created: "created", DeviceNamed: "device_named"},
    ),
    "the event by its module": (
        "def moved(self, event: events.Moved) -> Iterable[Draft]:\n    return ()",
        {Moved: "moved"},
    ),
    "the event in quotes": (
        'def moved(self, event: "Moved") -> Iterable[Draft]:\n    return ()',
        {Moved: "moved"},
    ),
    "another name of the parameter": (
        "def device_mismatch(self, mismatch: DeviceMismatch) -> Iterable[Draft]:\n    return ()",
        {DeviceMismatch: "device_mismatch"},
    ),
    "helpers with an underscore": (
        "LIMIT: int\n\ndef _is_certain(self, draft: Draft) -> bool:\n    return True".replace("LIMIT", "_limit"),
        {},
    ),
    "the methods that are no handlers": (
        "def finish(self) -> Iterable[Draft]:\n    return ()",
        {},
    ),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_handlers_are_found_by_the_events_they_name(name: str, tmp_path: Path) -> None:
    body, handlers = ACCEPTED[name]
    rule_file(tmp_path / "extra", body)
    with rules_beside(tmp_path):
        rule = next(rule for rule in rule_classes() if rule.code == "DEV999")
        assert rule.handlers == handlers


def test_inherited_handlers_are_checked_and_found(tmp_path: Path) -> None:
    path = rule_file(tmp_path / "extra", "def created(self, event: Created) -> Iterable[Draft]:\n    return ()")
    base = (
        "class Base:\n"
        "    def moved(self, event: Moved) -> Iterable[Draft]:\n        return ()\n\n"
        "    def {name}(self, event: DeviceNamed) -> Iterable[Draft]:\n        return ()\n\n\n"
    )
    text = path.read_text().replace("class Temporary(Rule)", "class Temporary(Base, Rule)")
    before, rule, after = text.partition("class Temporary")
    path.write_text(before + base.format(name="device_named") + rule + after)
    with rules_beside(tmp_path):
        found = next(rule for rule in rule_classes() if rule.code == "DEV999").handlers
    assert found == {Created: "created", Moved: "moved", DeviceNamed: "device_named"}

    path.write_text(before + base.format(name="device_names") + rule + after)
    with rules_beside(tmp_path), pytest.raises(TypeError, match=r"Base\.device_names takes the event DeviceNamed"):
        rule_classes()


def test_a_family_that_cannot_be_imported_is_not_left_out(tmp_path: Path) -> None:
    rule_file(tmp_path / "extra", "def created(self, event: Created) -> Iterable[Draft]:\n    return ()")
    (tmp_path / "extra/__init__.py").write_text("import a_module_that_is_not_there\n")
    with rules_beside(tmp_path), pytest.raises(ImportError, match="a_module_that_is_not_there"):
        rule_classes()


def test_every_rule_that_looks_at_programs_handles_something() -> None:
    idle = [rule.code for rule in rule_classes() if not rule.handlers and rule.code not in precedence().claim_order]
    assert [code for code in idle if not code.startswith("DEV9")] == []


def test_events_are_known_by_their_names_in_snake_case() -> None:
    assert EVENT_OF_HANDLER["device_named"] is DeviceNamed
    assert EVENT_OF_HANDLER["device_mismatch"] is DeviceMismatch
    assert "event" not in EVENT_OF_HANDLER
