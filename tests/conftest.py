"""Puts this folder on the import path, so that tests share ``report_examples``, and sets hypothesis and xdist up."""

import pytest
from hypothesis import settings

# Machines are shared: how long an example takes says nothing about the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What shares a guest stays in one process; the group that takes longest comes first."""
    for item in items:
        folder = item.path.parent.name
        item.add_marker(pytest.mark.xdist_group(folder if folder == "host" else item.path.name))
    items.sort(key=lambda item: item.path.parent.name != "host")
