"""A sweep as settings: a scheduler with each combination of values of its parameters."""

from collections.abc import Mapping
from typing import Any

from runoff.engines.choose import find_catalogue
from runoff.plan.settings import USUAL_ENGINE, Settings, parse_settings
from runoff.plan.sweep import expand_sweep


def make_sweep(arm: str, values: Mapping[str, Any], origin: str, *, large: bool = False) -> Settings:
    """Return the settings of a campaign whose arms are those of a sweep, the defaults first.

    ``values`` are the other keys of a plan; ``origin`` starts the errors about them. Raises UsageError, also for more
    than 64 arms unless it is to be ``large``.
    """
    arms = expand_sweep(arm, find_catalogue(values.get("on", USUAL_ENGINE)), large=large)
    return parse_settings({"arms": arms, **values}, origin)
