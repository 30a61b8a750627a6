"""Bugs planted into released code: which there are, where they are certain, and whether devlint sees them."""
