"""The commands: arguments in, exit code out. Nothing is decided here."""
