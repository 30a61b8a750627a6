"""Rules about the linting itself; what they report is found outside the walk."""
