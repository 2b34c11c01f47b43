"""The scripts by which shells ask for completions, and how the answer reaches bash."""

import functools
import os
import shlex
from dataclasses import dataclass

from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
)

PROGRAM = "runoff"

_BREAKS = ":="
"""Characters at which bash begins a new word, so that it replaces only what is behind the last of them."""


class ArmsInBash(BashComplete):
    """Completion for bash of words that contain colons and equals signs, as arms do."""

    source_template = """\
%(complete_func)s() {
    local - line IFS=$'\\n'
    set -f
    COMPREPLY=()
    for line in $(COMP_LINE="$COMP_LINE" COMP_POINT="$COMP_POINT" %(complete_var)s=bash_complete $1); do
        case "${line%%%%,*}" in
        file) compopt -o default ;;
        dir) compopt -o dirnames ;;
        plain)
            COMPREPLY+=("${line#*,}")
            case "$line" in *[=:]) compopt -o nospace ;; esac
            ;;
        esac
    done
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""

    @staticmethod
    def _check_version() -> None:
        """Ask nothing: any bash that is still in use has what the script needs."""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the cursor, and the one that is being typed, whole."""
        return self._typed.words, self._typed.incomplete

    def format_completion(self, item: CompletionItem) -> str:
        """Return what takes the place of the word, or of its part behind the last break."""
        known = 0 if self._typed.is_quoted else max(self._typed.incomplete.rfind(mark) for mark in _BREAKS) + 1
        return f"{item.type},{item.value[known:]}"

    @functools.cached_property
    def _typed(self) -> "_Typed":
        return _read_typed(os.environ["COMP_LINE"][: int(os.environ["COMP_POINT"])])


@dataclass(frozen=True, slots=True)
class _Typed:
    """What stands before the cursor."""

    words: list[str]
    """Behind the program's name, without the one that is being typed."""
    incomplete: str
    is_quoted: bool
    """Whether the incomplete word is within quotes."""


def _read_typed(line: str) -> _Typed:
    words, is_quoted = _split(line)
    incomplete = words.pop() if is_quoted or not line[-1:].isspace() else ""
    return _Typed(words[1:], incomplete, is_quoted)


def _split(line: str) -> tuple[list[str], bool]:
    """Return the words of a line, and whether the last one is within quotes."""
    for end in ("", "'", '"'):
        try:
            return shlex.split(line + end), bool(end)
        except ValueError:
            continue
    return line.split(), False


add_completion_class(ArmsInBash, "bash")

SHELLS: dict[str, type[ShellComplete]] = {"bash": ArmsInBash, "zsh": ZshComplete, "fish": FishComplete}
