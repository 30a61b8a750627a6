"""Fixes: which of them are applied, what the bytes are then, whether that compiles, and how it gets to the disk."""
