"""Calls of a CPU program lifted to a simulated accelerator and brought back, so that nothing outside notices."""
