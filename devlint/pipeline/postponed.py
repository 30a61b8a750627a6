"""A file that is analysed after all others: whatever it needs would cost them what they share."""

from __future__ import annotations


class Postponed(BaseException):
    """Raised where the analysis of a file turns out to need a workspace of its own, and may wait.

    That ends the workspace which other files share, and all of it would be found out again for those that follow.
    """
