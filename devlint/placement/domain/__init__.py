"""The abstract domain: devices, values, states, the provenance of each value, and the events an evaluation emits."""
