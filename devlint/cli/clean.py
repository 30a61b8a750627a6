"""``devlint clean``: remove what earlier runs have kept."""

from __future__ import annotations

from pathlib import Path

import click

from devlint.cache.place import clean, default_directory
from devlint.configuration.config import Configuration, Overrides
from devlint.reports.painting import visible
from devlint.source.project import shown_path


@click.command(
    "clean",
    short_help="Remove the cache of results.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.option("--cache-dir", metavar="DIR", help="The cache.  [default: what is configured, else .devlint_cache]")
def clean_command(cache_dir: str | None) -> None:
    """Remove what earlier runs have kept. The next run looks at every file again."""
    cwd = Path.cwd()
    overrides = Overrides({"cache-dir": cache_dir} if cache_dir else {})
    directory = Configuration(overrides, cwd).for_directory(str(cwd)).cache_dir or default_directory(cwd)
    name = visible(shown_path(str(directory), str(cwd)))
    if not directory.is_dir():
        click.echo(f"devlint: no cache at {name}", err=True)
        return
    try:
        found = clean(directory)
    except OSError as error:
        raise click.ClickException(f"cannot remove {name}: {(error.strerror or str(error)).lower()}") from None
    if not found:
        raise click.ClickException(f"{name} is no cache of devlint, and stays")
    click.echo(f"devlint: removed {name}", err=True)
