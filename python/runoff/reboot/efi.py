"""Variables of the firmware that bootloaders set (Boot Loader Interface of systemd)."""

from pathlib import Path

from runoff.reading import read_own

VARIABLES = Path("/sys/firmware/efi/efivars")
_VENDOR = "4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"
_ATTRIBUTES_BYTES = 4


def read_variable(name: str) -> str:
    """Return the text of a variable; nothing where there is none, as with a BIOS."""
    try:
        content = read_own(VARIABLES / f"{name}-{_VENDOR}")
    except OSError:
        return ""
    return content[_ATTRIBUTES_BYTES:].decode("utf-16-le", errors="replace").rstrip("\0")
