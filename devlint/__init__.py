"""devlint finds the bugs that appear when a PyTorch program leaves the CPU.

From Python: :func:`lint_paths` and :func:`lint_source` give the findings that the command line shows, as
:class:`Finding`. The names below are stable; everything else in the package may change. Importing ``devlint`` is cheap:
what a name needs is imported when it is first used.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

    from devlint.api import lint_paths, lint_source
    from devlint.configuration.configfile import ConfigurationError
    from devlint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Severity, TraceStep

__version__ = "0.1.0"

__all__ = [
    "Applicability",
    "Confidence",
    "ConfigurationError",
    "Edit",
    "Finding",
    "Fix",
    "Place",
    "Severity",
    "TraceStep",
    "__version__",
    "lint_paths",
    "lint_source",
]

_HOMES = {
    "lint_paths": "devlint.api",
    "lint_source": "devlint.api",
    "ConfigurationError": "devlint.configuration.configfile",
}


if not TYPE_CHECKING:  # a type checker sees the imports above, and so knows which names there are not

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(_HOMES.get(name, "devlint.finding")), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
