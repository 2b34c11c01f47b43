"""`runoff` whose samples under the virtual clock have a boot of their own each, instead of copies of a kept guest."""

from collections.abc import Callable

from runoff.cli.main import main
from runoff.engines.lab.engine import LabEngine

prepare = LabEngine.prepare


def prepare_without_a_kept_guest(self: LabEngine, say: Callable[[str], None]) -> None:
    """As where there is none, but with runoff's QEMU."""
    prepare(self, say)
    self._keeper = None


LabEngine.prepare = prepare_without_a_kept_guest  # type: ignore[method-assign]
main()
