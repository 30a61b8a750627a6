"""``devlint server``: a language server for editors, on standard input and output."""

from __future__ import annotations

from importlib.util import find_spec

import click


@click.command(
    "server",
    short_help="Tell an editor of findings while somebody types.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
def server_command() -> int:
    """Serve an editor by the language server protocol (LSP), on standard input and output, until the editor ends it.

    It needs pygls, which comes with the extra `lsp`. The settings are those of the configuration files.
    """
    if find_spec("pygls") is None:
        raise click.ClickException("the language server needs pygls: pip install 'devlint[lsp]'")
    from devlint.server.serving import serve

    return serve()
