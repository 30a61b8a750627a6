"""What a device really does: the rows of fixtures/semantics/rows.jsonl run one by one and written down.

Needs torch (2.11 or later) and the standard library, and none of devlint's own dependencies.
`python -m devlint.semantics.record --help` tells how.
"""
