"""The rules: one file each, its docstring the page a user reads.

A rule is a subclass of :class:`devlint.rules.rule.Rule` in ``devlint/rules/<family>/<rule_name>.py``. It handles the
events whose types its handler methods name, and knows no file and no report. What ``devlint rule`` prints is read from
its source, so only an analysis imports it. CONTRIBUTING.md shows how one is added.
"""
