"""Help in sections: options that belong together stand together."""

from __future__ import annotations

import click

_SECTIONS = {
    "Rules": (
        "select", "ignore", "extend_select", "per_file_ignores", "extend_per_file_ignores", "min_severity",
        "min_confidence", "ignore_noqa",
    ),
    "Files": (
        "exclude", "extend_exclude", "force_exclude", "respect_gitignore", "stdin_filename", "show_files",
    ),
    "Only what is new": ("baseline", "write_baseline", "diff_base", "add_noqa"),
    "Fixes": ("fix", "unsafe_fixes", "fix_only", "show_fixes", "diff", "exit_non_zero_on_fix"),
    "Report": (
        "output_format", "output_file", "statistics", "exit_zero", "color", "quiet", "verbose",
    ),
    "Configuration": ("config", "isolated", "show_settings"),
    "Cache": ("no_cache", "cache_dir"),
}  # fmt: skip


_COLUMN = 30
"""What is said of an option begins at one column in all sections; click's own limit for it."""


class SectionedCommand(click.Command):
    """A command that lists its options by what they are about; what is in no section comes last."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = {
            parameter.name or "": record
            for parameter in self.get_params(ctx)
            if isinstance(parameter, click.Option) and (record := parameter.get_help_record(ctx)) is not None
        }
        for title, names in _SECTIONS.items():
            _write(title, [rows.pop(name) for name in names if name in rows], formatter)
        _write("Other", list(rows.values()), formatter)


def _write(title: str, rows: list[tuple[str, str]], formatter: click.HelpFormatter) -> None:
    if rows:
        with formatter.section(title):
            formatter.write_dl([(option.ljust(_COLUMN), text) for option, text in rows])
