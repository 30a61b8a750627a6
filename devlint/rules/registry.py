"""All rules, found by walking the package. Their facts are read from their sources: only an analysis imports them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

import devlint.rules as package
from devlint.finding import Severity
from devlint.records import dataclass

if TYPE_CHECKING:
    from devlint.rules.precedence import Precedence
    from devlint.rules.rule import Rule

_FACTS = re.compile(
    r"""
    ^class\ \w+ [^\n]*:\n (?:\n|[ ]{4}[^\n]*\n)*?
    [ ]{4}code\ =\ "(?P<code>\w+)"\n
    [ ]{4}name\ =\ "(?P<name>[\w-]+)"\n
    [ ]{4}severity\ =\ Severity\.(?P<severity>\w+)\n
    (?P<when_confirmed>[ ]{4}error_when_confirmed\ =\ True\n)?
    """,
    re.X | re.M,
)

_DOCSTRING = re.compile(r'\A"""(?P<text>.*?)"""$', re.S | re.M)


@dataclass(frozen=True, slots=True)
class RuleInfo:
    """What ``devlint rule`` prints about a rule. ``page`` is Markdown; ``summary`` its first sentence."""

    code: str
    name: str
    severity: Severity
    suspected_as: Severity
    """The gravest severity of its findings that no run has confirmed."""
    summary: str
    page: str


@cache
def rule_classes() -> tuple[type[Rule], ...]:
    """Every rule class, by code."""
    return _loaded()[0]


@cache
def precedence() -> Precedence:
    """Which rule comes first where several could report."""
    return _loaded()[1]


@cache
def _loaded() -> tuple[tuple[type[Rule], ...], Precedence]:
    """The rules, imported and checked against each other.

    Two rules of one code, a rule without its facts and a precedence that cannot be derived are a TypeError here; a
    method that handles no event is one already when its module is imported.
    """
    import importlib
    import pkgutil

    from devlint.rules.precedence import precedence_of
    from devlint.rules.rule import Rule

    found: dict[str, type[Rule]] = {}
    for module_info in pkgutil.walk_packages(package.__path__, package.__name__ + ".", _raise):
        if module_info.ispkg or module_info.name.count(".") < 3:
            continue
        module = importlib.import_module(module_info.name)
        for cls in vars(module).values():
            if isinstance(cls, type) and issubclass(cls, Rule) and cls.__module__ == module.__name__:
                missing = [a for a in ("code", "name", "severity") if not hasattr(cls, a)]
                if missing or not module.__doc__:
                    raise TypeError(f"{module.__name__}: {cls.__name__} lacks {', '.join(missing) or 'its page'}")
                if cls.code in found:
                    raise TypeError(f"{cls.code} is both {found[cls.code].__module__} and {module.__name__}")
                found[cls.code] = cls
    classes = tuple(found[code] for code in sorted(found))
    return classes, precedence_of(classes)


def _raise(package_name: str) -> None:
    """A family that cannot be imported is an error; :mod:`pkgutil` would leave its rules out without a word."""
    raise  # noqa: PLE0704 - pkgutil calls this while it handles the error


@cache
def all_rules() -> tuple[RuleInfo, ...]:
    """What is known of every rule, by code. Where there are no sources to read, the rules are imported."""
    found = [_info(*facts) for facts in (_written() or _imported())]
    return tuple(sorted(found, key=lambda rule: rule.code))


def _info(code: str, name: str, severity: Severity, error_when_confirmed: bool, page: str) -> RuleInfo:
    suspected_as = Severity.WARNING if error_when_confirmed else severity
    return RuleInfo(code, name, severity, suspected_as, page.split("\n\n", 1)[0].replace("\n", " "), page)


_Facts = tuple[str, str, Severity, bool, str]


def _written() -> list[_Facts]:
    found: list[_Facts] = []
    for text in _sources():
        for facts in _FACTS.finditer(text):
            when_confirmed = facts["when_confirmed"] is not None
            found.append((facts["code"], facts["name"], Severity[facts["severity"]], when_confirmed, _page(text)))
    return found


def _imported() -> list[_Facts]:
    import inspect

    pages = {rule: inspect.cleandoc(inspect.getmodule(rule).__doc__ or "") for rule in rule_classes()}
    return [(rule.code, rule.name, rule.severity, rule.error_when_confirmed, page) for rule, page in pages.items()]


def _sources() -> Iterator[str]:
    """The texts of the rules' files; none where the package is no directory."""
    for home in package.__path__:
        for family in os.scandir(home) if os.path.isdir(home) else ():
            for entry in os.scandir(family.path) if family.is_dir() else ():
                if entry.name.endswith(".py"):
                    with open(entry.path, encoding="utf-8") as file:
                        yield file.read()


def _page(text: str) -> str:
    """The docstring of a module, whose first line is its first and whose margin is none."""
    match = _DOCSTRING.match(text)
    page = match["text"] if match is not None else ""
    if match is None or "\\" in page:
        import ast

        page = ast.get_docstring(ast.parse(text)) or ""
    return page.strip()
