"""Device inference: on which device is this value, and where did it get there?

The walk (:mod:`devlint.placement.interpreter.interpreter`) evaluates definitions in Python's own order and emits
:mod:`devlint.placement.domain.events`; rules read the events and nothing else.
"""
