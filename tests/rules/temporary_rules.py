"""Rules in a temporary family of their own, found and checked by the loader that finds devlint's."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import devlint.rules
from devlint.rules import listeners, registry

HEADER = '''\
"""A rule of a test."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft
from devlint.finding import Severity
from devlint.rules.rule import Rule

if TYPE_CHECKING:
    from devlint.placement.domain import events
    from devlint.placement.domain.events import Called, Created, DeviceNamed, DeviceMismatch, Moved


class {name}(Rule):
    code = "{code}"
    name = "{page}"
    severity = Severity.WARNING

'''


def rule_file(family: Path, body: str, code: str = "DEV999", name: str = "Temporary") -> Path:
    """A file with one rule, whose class has this body besides its facts. Returns its path."""
    family.mkdir(exist_ok=True)
    (family / "__init__.py").touch()
    path = family / f"{name.lower()}.py"
    indented = "".join(f"    {line}\n" if line else "\n" for line in body.splitlines())
    path.write_text(HEADER.format(name=name, code=code, page=name.lower()) + indented)
    return path


@contextmanager
def rules_beside(directory: Path) -> Iterator[None]:
    """devlint's rules with the families in ``directory`` besides; as it was on leaving."""
    before, keeps_none = list(devlint.rules.__path__), sys.dont_write_bytecode
    modules = set(sys.modules)
    # A file that is written twice in a second would be taken for its former self.
    sys.dont_write_bytecode = True
    importlib.invalidate_caches()
    devlint.rules.__path__ = [*before, str(directory)]
    _forget()
    try:
        yield
    finally:
        devlint.rules.__path__, sys.dont_write_bytecode = before, keeps_none
        for name in set(sys.modules) - modules:
            if name.startswith("devlint.rules.") and str(directory) in (sys.modules[name].__file__ or ""):
                family, _, module = name.rpartition(".")
                sys.modules.pop(name)
                if family in sys.modules:
                    vars(sys.modules[family]).pop(module, None)
        _forget()


def _forget() -> None:
    """The loader reads the rules anew."""
    for cached in (
        registry.rule_classes,
        registry.precedence,
        registry._loaded,
        registry.all_rules,
        listeners._claimants,
        listeners._waking_at_calls,
        listeners._woken_by,
    ):
        cached.cache_clear()
