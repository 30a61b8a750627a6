"""Repairs: changes as edits of the text, and the device expressions that a repair can use."""
