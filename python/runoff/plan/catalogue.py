"""The schedulers and elevators of the agent, which a plan is checked against."""

from dataclasses import dataclass

from runoff.plan.arms import Describe
from runoff.plan.elevators import DescribeElevators


@dataclass(frozen=True, slots=True)
class AgentCatalogue:
    """Functions that ask the agent; each is called only for a plan that needs its answer."""

    schedulers: Describe | None = None
    """None means that names and parameters of schedulers are not checked."""
    elevators: DescribeElevators | None = None
    """None means that names and parameters of elevators are not checked."""
