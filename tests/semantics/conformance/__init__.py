"""Rows against evidence: what is known of each row, and what judge, simulation and FakeTensorMode say of it."""
