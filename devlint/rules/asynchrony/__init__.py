"""Rules about work that has not ended yet: streams and copies that do not block."""
