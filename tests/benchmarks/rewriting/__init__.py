"""Rewritings of a program after which it does what it did before."""
