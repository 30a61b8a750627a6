"""What a rule is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar

from devlint.finding import Severity
from devlint.rules.handlers import EVENT_OF_HANDLER, handlers_of
from devlint.rules.waking import always

if TYPE_CHECKING:
    from devlint.drafts.draft import Draft
    from devlint.placement.domain.events import DeviceMismatch, Event
    from devlint.rules.waking import Question


class Rule:
    """Base of all rules. A fresh instance serves one file, so a rule may remember what it saw there.

    A public method of a rule is a handler: named after an event in snake case, annotated with its type, yielding
    drafts (:mod:`devlint.rules.handlers`). The only others are ``claim`` and ``finish``; helpers begin with an
    underscore.

    A device mismatch (the event ``DeviceMismatch``) is reported by one rule. The rules that define ``claim`` are
    offered it one after the other, and the first that yields a draft has claimed it. ``claims_before`` and
    ``claims_after`` say where a rule stands in that order; they have to place every such rule, and
    :mod:`devlint.rules.precedence` checks that.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]

    claims_before: ClassVar[tuple[str, ...]] = ()
    """Codes of rules that are offered a device mismatch only after this one."""
    claims_after: ClassVar[tuple[str, ...]] = ()
    """Codes of rules that are offered a device mismatch before this one."""

    gives_way_to: ClassVar[tuple[str, ...]] = ()
    """A finding of this rule is dropped where one of these rules has a finding at the same node."""
    gives_way_unless_surer: ClassVar[tuple[str, ...]] = ()
    """The same, except where this rule's finding has the higher confidence."""
    supersedes: ClassVar[tuple[str, ...]] = ()
    """The findings of these rules are dropped where this rule has a finding at the same node."""

    error_when_confirmed: ClassVar[bool] = False
    """Of its errors fewer than nine in ten were true on code that nobody had looked at (the table in the README): what
    is only suspected is a warning, however sure, and the error that it is once a run has confirmed it."""

    of_callers_models: ClassVar[bool] = False
    """It speaks of models that whoever uses the package brings along: where its own ones work says nothing of them."""

    wrong_on_the_host: ClassVar[bool] = False
    """What it is sure of is wrong where nothing is ever moved, too: no optimizer is told of layers in a plain list."""

    of_bare_factories: ClassVar[bool] = False
    """It speaks of tensors that are made without a device, which are where the default device is."""

    of_moved_modules: ClassVar[bool] = False
    """It takes for granted that modules are built on the CPU, and moved as a whole."""

    of_callers_tensors: ClassVar[bool] = False
    """With medium confidence it takes for granted that callers come with tensors on an accelerator."""

    wakes_at: ClassVar[Mapping[str, Question]] = {}
    """By the name of the handler: the events without one of which the rule has nothing to say in a file. None named:
    there is no such event.

    Most rules are about calls that few files make, and note what stands around them. A rule with such a table sleeps
    until one of these events, or until a device mismatch if it has ``claim``; then it is told what came before. In a
    file without one it costs nothing but these questions, which therefore read little.
    """

    @staticmethod
    def wakes_at_call(name: str) -> bool:
        """The same for calls, by the qualified name of what is called. Asked once for each name."""
        return False

    handlers: ClassVar[Mapping[type[Event], str]] = {}
    """The handlers' names by event type; found when the class is created, not written by hand."""
    wakes: ClassVar[Mapping[type[Event], Question]] = {}
    """``wakes_at`` by event type, with what ``claim`` adds."""
    sleeps: ClassVar[bool] = False
    """Whether it waits for such an event or call."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.handlers = handlers_of(cls, Rule)
        cls.wakes = _wakes(cls)
        cls.sleeps = bool(cls.wakes) or cls.wakes_at_call is not Rule.wakes_at_call

    def claim(self, event: DeviceMismatch) -> Iterable[Draft]:
        """The drafts of a device mismatch that is this rule's to report; nothing where it is another rule's."""
        return ()

    def finish(self) -> Iterable[Draft]:
        """The drafts that are known only after the file's last event."""
        return ()


def _wakes(rule: type[Rule]) -> dict[type[Event], Question]:
    unknown = rule.wakes_at.keys() - EVENT_OF_HANDLER.keys()
    if unknown:
        raise TypeError(f"{rule.__name__} wakes at {', '.join(sorted(unknown))}, which is no event")
    found = {EVENT_OF_HANDLER[name]: question for name, question in rule.wakes_at.items()}
    if (rule.wakes_at or rule.wakes_at_call is not Rule.wakes_at_call) and rule.claim is not Rule.claim:
        found[EVENT_OF_HANDLER["device_mismatch"]] = always
    return found
