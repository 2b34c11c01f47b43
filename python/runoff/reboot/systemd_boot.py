"""systemd-boot, whose one-shot entry is a variable of the firmware that it deletes as it boots."""

import json

from runoff.engines import tools
from runoff.errors import MissingError
from runoff.reboot.efi import read_variable


class SystemdBoot:
    """systemd-boot, by way of bootctl."""

    name = "systemd-boot"

    def require_one_boot(self) -> None:
        """The firmware's variables can always be deleted."""

    def find_entry(self, release: str) -> str:
        listed = json.loads(_run("list", "--json=short"))
        for entry in listed:
            if entry.get("version") == release or str(entry.get("linux", "")).endswith(f"/{release}/linux"):
                return str(entry["id"])
        raise MissingError(f"systemd-boot has no entry for the kernel {release}: kernel-install adds one")

    def choose_once(self, entry: str) -> None:
        _run("set-oneshot", entry)

    def read_choice(self) -> str:
        return read_variable("LoaderEntryOneShot")

    def forget_choice(self) -> None:
        _run("set-oneshot", "")


def _run(*words: str) -> str:
    return tools.run([tools.require("bootctl", "systemd-boot"), *words], what=f"bootctl {words[0]}")
