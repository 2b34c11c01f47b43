"""Puts this folder on the import path, so that tests share ``report_examples``, and sets hypothesis up."""

from hypothesis import settings

# Machines are shared: how long an example takes says nothing about the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
