"""Whether a run counts, from the words that a file has for that."""

_GOOD = frozenset((
    "complete", "completed", "done", "finished", "good", "ok", "okay", "pass", "passed", "succeeded", "success",
    "successful", "true", "valid", "yes",
))  # fmt: skip
_BAD = frozenset((
    "abort", "aborted", "bad", "cancelled", "canceled", "crash", "crashed", "error", "fail", "failed",
    "failure", "false", "incomplete", "interrupted", "invalid", "killed", "no", "skipped", "timeout",
    "unsuccessful", "void",
))  # fmt: skip
_NOTHING = frozenset(("", "-", "0", "false", "n/a", "na", "no", "none", "null"))
"""What a column of errors has where there was none."""

_SUCCESSES = ("valid", "ok", "success", "passed")
_FAILURES = ("error", "failed", "failure")
_CODES = ("exit code", "exit status", "exitcode", "returncode", "return code")

HEADERS = frozenset(("status", *_SUCCESSES, *_FAILURES, *_CODES))
"""What keys are called that say whether a run counts, as `normalise` writes them."""

KNOWN = "ok, completed, passed, yes, true, or failed, error, timeout, no, false"
"""Some of the words, for messages."""


def normalise(key: str) -> str:
    """Return a key as headers are known: ``exit code`` for ``Exit_Code``."""
    return key.strip().lower().replace("_", " ").replace("-", " ")


def find_void(key: str, text: str) -> str | None:
    """Return why a run does not count of which the file says ``text`` as ``key``: empty if it counts, and None if
    that cannot be told from the text."""
    name, word = normalise(key), text.strip().lower()
    why = f"{key}: {text.strip() or 'empty'}"
    if name in _CODES:
        return ("" if int(word) == 0 else why) if word.lstrip("-").isdecimal() else None
    if name in _FAILURES:
        if word in _NOTHING or (word in _GOOD and word not in ("true", "yes")):
            return ""
        # A number of failures, or the error of a measurement as in 12.3 +- 0.4, says nothing about the run.
        return None if word != "1" and word[:1] in "0123456789.+±" else why
    if word in _GOOD or (word == "1" and name in _SUCCESSES):
        return ""
    return why if word in _BAD or (word in _NOTHING and name in _SUCCESSES) else None
