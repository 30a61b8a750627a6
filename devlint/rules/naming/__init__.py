"""Rules about how a program spells, chooses and compares devices."""
