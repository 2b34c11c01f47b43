"""Debian packages without root: a private apt whose signatures are checked by the archive's keyring."""

import contextlib
import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from runoff.engines import tools
from runoff.engines.distribution import render_install
from runoff.engines.lab import cache, mirror
from runoff.errors import MissingError, RunoffError

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
KEYRING_PACKAGE = "debian-archive-keyring"
SUITE = mirror.SUITE
BACKPORTS = f"{SUITE}-backports"
_HOOKS = (
    "APT::Update::Pre-Invoke",
    "APT::Update::Post-Invoke",
    "APT::Update::Post-Invoke-Success",
    "DPkg::Pre-Invoke",
    "DPkg::Pre-Install-Pkgs",
    "DPkg::Post-Invoke",
)
_UNTRUSTED = re.compile(r"NO_PUBKEY|EXPKEYSIG|BADSIG|is not signed|not valid yet|is expired|verification failed")
_GONE = re.compile(r"\b(?:404|410)\s|File not found|Hash Sum mismatch|Unable to find expected entry")
_URI_LINE = re.compile(r"^'(\S+)' (\S+) \d+ (SHA256:[0-9a-f]{64})$", re.MULTILINE)


class GoneError(MissingError):
    """The archive's index lists a file that the archive no longer has, because it was replaced."""


@dataclass(frozen=True, slots=True)
class Package:
    """A binary package that was fetched and whose digest apt has checked against the signed index."""

    name: str
    version: str
    sha256: str
    path: Path


def keyring() -> Path:
    """Return the archive's public keys.

    Raises:
        MissingError: the package that brings them is not installed.
    """
    if not KEYRING.exists():
        raise MissingError(f"Debian's archive keys are missing: {render_install([KEYRING_PACKAGE])}")
    return KEYRING


class Archive:
    """One Debian archive seen through a private apt; of the system's apt only the proxies are read, and nothing is
    changed."""

    def __init__(self, address: str, directory: Path) -> None:
        """``directory`` holds the private state; it is created by `open_archive`."""
        self.address = address
        self._directory = directory
        self._config = directory / "apt.conf"

    def prepare(self) -> None:
        """Write the private configuration."""
        for part in ("state/lists/partial", "cache/archives/partial", "empty"):
            (self._directory / part).mkdir(parents=True, exist_ok=True)
        (self._directory / "status").touch()
        (self._directory / "sources.list").write_text(self._sources())
        self._config.write_text(self._settings())

    def update(self) -> None:
        """Fetch the package lists.

        Raises:
            MissingError: the archive cannot be reached or its signature does not hold.
        """
        try:
            self._apt("apt-get", "update", what="apt-get update")
        except RunoffError as error:
            if _UNTRUSTED.search(str(error)):
                raise MissingError(
                    f"the Debian archive {self.address} is not trusted ({error}): "
                    f"sudo apt-get install --only-upgrade {KEYRING_PACKAGE} renews the keys, --mirror names another"
                ) from error
            raise MissingError(
                f"the Debian archive {self.address} cannot be reached: check the network and its proxy, "
                f"or name another with --mirror URL or {mirror.VARIABLE}"
            ) from error

    def names(self, prefix: str) -> list[str]:
        """Return all package names with this prefix."""
        return sorted(set(self._apt("apt-cache", "pkgnames", prefix, what="apt-cache pkgnames").split()))

    def fields(self, package: str, suite: str = SUITE) -> Mapping[str, str]:
        """Return the control fields of the package's best version in ``suite``.

        Raises:
            MissingError: the archive has no such package.
        """
        text = ""
        with contextlib.suppress(RunoffError):
            text = self._apt(
                "apt-cache", "show", "--no-all-versions", "-t", suite, package, what=f"apt-cache show {package}"
            )
        found = dict(re.findall(r"^([A-Z]\w*(?:-\w+)*): (.*)$", text, re.MULTILINE))
        # Apt knows names that other packages merely mention, and shows no fields for them.
        if "Version" not in found:
            raise MissingError(f"the Debian archive {self.address} has no package {package} in {suite}")
        return found

    def download(self, packages: Sequence[str], directory: Path, suite: str = SUITE) -> list[Package]:
        """Fetch binary packages into ``directory``, in the order asked for.

        Raises:
            GoneError: the index has one that the archive does not have. MissingError: one is not there or the archive
            cannot be reached. RunoffError: a file is not the one in the signed index.
        """
        return [self._download(package, directory, suite) for package in packages]

    def download_source(self, source: str, directory: Path) -> Path:
        """Fetch a source package into ``directory`` and return its .dsc file.

        Upstream's detached signatures are left out: the signed index already vouches for every file, and partial
        mirrors lack them.

        Raises:
            MissingError: there is no such source, or the archive cannot be reached.
        """
        try:
            listing = self._apt("apt-get", "source", "--print-uris", source, what=f"looking for the source of {source}")
        except RunoffError as error:
            raise MissingError(f"the Debian archive {self.address} has no source {source} in {SUITE}") from error
        files: list[tuple[str, str, str]] = _URI_LINE.findall(listing)
        for address, name, digest in files:
            if not name.endswith(".asc"):
                self._download_file(address, directory / name, digest)
        return next(directory / name for _, name, _ in files if name.endswith(".dsc"))

    def download_file(self, path: str, directory: Path, digest: str) -> Path:
        """Fetch the file at ``path`` below the archive's address, whose SHA-256 is known, into ``directory``.

        Raises:
            GoneError: it is not there, or is another file. MissingError: the archive cannot be reached.
        """
        target = directory / path.rpartition("/")[2]
        self._download_file(f"{self.address}/{path}", target, f"SHA256:{digest}")
        return target

    def proxies(self) -> Mapping[str, str]:
        """Return the user's own apt proxies, by option name."""
        dump = self._apt("apt-config", "dump", "Acquire", what="apt-config dump")
        found = re.findall(r'^(Acquire::\w+::Proxy(?:::[^ ]+)?) "([^"]+)";$', dump, re.MULTILINE)
        return dict(found)

    def _download(self, package: str, directory: Path, suite: str) -> Package:
        fields = self.fields(package, suite)
        wanted = f"{package}={fields['Version']}"
        try:
            self._apt("apt-get", "download", wanted, what=f"fetching {package}", cwd=directory)
        except RunoffError as error:
            raise self._failed(error) from error
        file = directory / f"{package}_{fields['Version'].replace(':', '%3a')}_{fields['Architecture']}.deb"
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        if digest != fields["SHA256"]:
            raise RunoffError(
                f"{file.name} is not what the signed index of {self.address} lists: run the command again"
            )
        return Package(package, fields["Version"], digest, file)

    def _download_file(self, address: str, target: Path, digest: str) -> None:
        """Let apt fetch one file, so that its proxies and its digest check apply."""
        helper = Path("/usr/lib/apt/apt-helper")
        command: list[str | Path] = [helper, "-qq", "-c", self._config, "download-file", address, target, digest]
        try:
            tools.run(command, what=f"fetching {target.name}")
        except RunoffError as error:
            raise self._failed(error) from error

    def _failed(self, error: RunoffError) -> MissingError:
        kind = GoneError if _GONE.search(str(error)) else MissingError
        return kind(f"{error}; the Debian archive was {self.address}, --mirror names another")

    def _apt(self, program: str, *arguments: str, what: str, cwd: Path | None = None) -> str:
        path = tools.require(program, "apt")
        return tools.run([path, "-c", str(self._config), "-qq", *arguments], what=what, cwd=cwd)

    def _sources(self) -> str:
        signed = f"[signed-by={keyring()}]"
        return "".join(
            f"{kind} {signed} {self.address} {suite} main\n"
            for kind, suite in (("deb", SUITE), ("deb", BACKPORTS), ("deb-src", SUITE))
        )

    def _settings(self) -> str:
        """Return settings that apt reads after the system's own files, so they can disable hooks.

        Container images install hooks that empty the system's package cache after every update, even a private one.
        """
        at = self._directory
        settings = {
            "Dir::State": at / "state",
            "Dir::State::status": at / "status",
            "Dir::Cache": at / "cache",
            "Dir::Etc::sourcelist": at / "sources.list",
            "Dir::Etc::sourceparts": at / "empty",
            "Dir::Etc::preferences": at / "empty/none",
            "Dir::Etc::preferencesparts": at / "empty",
            "APT::Architecture": "amd64",
            "APT::Architectures": "amd64",
            "APT::Update::Error-Mode": "any",
            "APT::Install-Recommends": "false",
            "Acquire::Languages": "none",
            "Acquire::Retries": "3",
        }
        if os.geteuid() == 0:
            settings["APT::Sandbox::User"] = "root"
        hooks = "".join(f"#clear {hook};\n" for hook in _HOOKS)
        cleared = "#clear APT::Architectures;\n#clear Acquire::Languages;\n"
        return hooks + cleared + "".join(f'{name} "{value}";\n' for name, value in settings.items())


def open_archive(chosen: str | None, progress: cache.Progress) -> Archive:
    """Return the archive ready for use: resolved, configured, its package lists fresh.

    Raises:
        MissingError: no archive is known, it cannot be reached, or its keys are missing.
        UsageError: the chosen address is not one.
    """
    keyring()
    address = mirror.resolve(chosen)
    directory = cache.apt() / hashlib.sha256(address.encode()).hexdigest()[:16]
    archive = Archive(address, directory)
    with cache.hold_lock(directory, progress), cache.explain_write_errors():
        archive.prepare()
        progress(f"reading the package lists of {address}")
        archive.update()
    return archive
