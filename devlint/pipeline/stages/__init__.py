"""The stages of one file's analysis, a module each. :mod:`devlint.pipeline.file_report` runs them in their order."""
