"""Dask, imported so that it prints nothing of its own: what matters to users is said by runoff."""

from runoff.errors import MissingError
from runoff.installed import describe_adding

try:
    import dask

    # Before the first import of distributed. Workers of this machine inherit it.
    dask.config.set({"logging": {"distributed": "critical", "tornado": "critical", "asyncio": "critical"}})
    import distributed
except ImportError:
    raise MissingError(f"--cluster needs Dask: {describe_adding('cluster')}") from None

__all__ = ["dask", "distributed"]
