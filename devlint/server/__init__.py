"""The language server: what devlint says of the texts that are open in an editor."""
