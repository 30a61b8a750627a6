"""Recording real behaviour: the rows of fixtures/semantics/rows.jsonl are run one by one on a device.

Needs torch (2.11 or later) and the standard library, and none of devlint's own dependencies. `python -m
devlint.semantics.record --help` lists the options.
"""
