"""What a user has to put right: told in one line, exit code 2."""


class Complaint(Exception):
    """The base of every error that is the user's to mend; the message names the thing and what to do."""
