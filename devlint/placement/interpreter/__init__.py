"""The abstract interpreter: the state at a program point, and the memo table of its queries."""
