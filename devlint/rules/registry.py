"""All rules, found by walking the package. Importing this needs neither libcst nor torch."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from dataclasses import dataclass
from functools import cache

import devlint.rules as package
from devlint.finding import Severity
from devlint.rules.rule import Rule


@dataclass(frozen=True, slots=True)
class RuleInfo:
    """What ``devlint rule`` says of a rule. ``page`` is Markdown; ``summary`` its first sentence."""

    code: str
    name: str
    severity: Severity
    summary: str
    page: str


@cache
def rule_classes() -> tuple[type[Rule], ...]:
    """Every rule class, by code. Two rules of one code, or a rule without its facts, is a programming error."""
    found: dict[str, type[Rule]] = {}
    for module_info in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
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
    return tuple(found[code] for code in sorted(found))


@cache
def all_rules() -> tuple[RuleInfo, ...]:
    return tuple(_info(cls) for cls in rule_classes())


def _info(cls: type[Rule]) -> RuleInfo:
    page = inspect.cleandoc(inspect.getmodule(cls).__doc__ or "")
    return RuleInfo(cls.code, cls.name, cls.severity, page.split("\n\n", 1)[0].replace("\n", " "), page)
