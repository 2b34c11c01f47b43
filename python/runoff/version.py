"""The version of runoff."""

__version__ = "0.1.0"
