"""Bugs that maintainers fixed, reached by the tests of their own projects, before the fix and after it."""
