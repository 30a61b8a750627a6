"""Between a run and the static findings: what `--auto` builds, and what a lifted test suite reports."""
