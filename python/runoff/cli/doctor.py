"""`runoff doctor`: what this machine can do, and the one command that fixes what is missing."""

import json
from dataclasses import asdict

import click

from runoff.cli.output import echo
from runoff.engine_kinds import ENGINES
from runoff.engines import doctor
from runoff.text import escape_line

_GLYPHS = {"yes": ("✓", "green"), "no": ("✗", "red"), "note": ("·", "yellow")}
_TITLES = {
    doctor.EVERYWHERE: "everywhere",
    **{name: f"{name} engine: measures on {kind.about}" for name, kind in ENGINES.items()},
}


@click.command("doctor", epilog="\b\nExample:\n  runoff doctor --json")
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON document.")
def command(as_json: bool) -> None:
    """Check what this machine can do, and name the command that fixes what is missing.

    The exit code is 0 when at least one engine can work here, and 69 when none can.
    """
    findings = doctor.examine()
    ready = {name: doctor.is_able(findings, name) for name in ENGINES}
    if as_json:
        echo(json.dumps({"ready": ready, "findings": [asdict(finding) for finding in findings]}, indent=2))
    else:
        _print(findings, ready)
    if not any(ready.values()):
        raise SystemExit(69)


def _print(findings: list[doctor.Finding], ready: dict[str, bool]) -> None:
    width = max(len(finding.name) for finding in findings)
    for area, title in _TITLES.items():
        echo(click.style(title, bold=True), styled=True)
        for finding in findings:
            if finding.area == area:
                glyph, colour = _GLYPHS[finding.state]
                mark, detail = click.style(glyph, fg=colour), escape_line(finding.detail)
                echo(f"  {mark} {finding.name:<{width}}  {detail}", styled=True)
                if finding.fix:
                    echo(f"    {'':<{width}}  → {finding.fix}")
    echo()
    lacking = [finding for finding in findings if finding.packages]
    if len(lacking) > 1:
        echo(f"to install all that the lab lacks: {doctor.advise(lacking)}")
    for engine, possible in ready.items():
        echo(f"--on {engine}: {'ready' if possible else 'not ready, see the ✗ above'}")
