"""Errors that a person reads."""


class UserError(Exception):
    """Something the user can mend, said in one sentence that names the file and the way out.

    The command line prints the sentence on stderr and exits with status 2; the screen shows it
    as a message. Anything else that escapes is a bug of this program.
    """


class Refused(UserError):
    """A change that was asked for was not made, and nothing was changed (exit status 1)."""
