"""Errors that name the thing and the way out; the command line turns them into one sentence and an exit code."""


class RunoffError(Exception):
    """A gate or check failed, or something broke that is neither the usage nor a missing part."""

    exit_code = 1


class UsageError(RunoffError):
    """What was asked for does not make sense."""

    exit_code = 64


class MissingError(RunoffError):
    """Something that is needed is not there or cannot be reached."""

    exit_code = 69
