"""The rules: one file each, its docstring the page a user reads.

A rule is a subclass of :class:`devlint.rules.rule.Rule` in ``devlint/rules/<family>/<rule_name>.py``. It handles the
events whose types its handler methods name, knows no file and no report, and never imports libcst when it is imported.
"""
