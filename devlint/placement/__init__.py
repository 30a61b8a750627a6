"""Device inference: on which device is this value, and how did it get there?

The interpreter (:mod:`devlint.placement.interpreter.interpreter`) evaluates definitions in Python's evaluation order
and emits :mod:`devlint.placement.domain.events`. Rules read only the events.
"""
