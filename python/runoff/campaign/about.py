"""What the arms, workloads, loads and metrics of a campaign are, in the sentences that it has kept."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runoff.arm_text import split_settings
from runoff.campaign.journal.records import Definitions, Outline, StoredDefinition
from runoff.reading import parse_toml
from runoff.results import Descriptions


def describe_parts(outline: Outline, definitions: Definitions) -> Descriptions:
    """Return the sentences about all that has one. Raises ValueError for a definition that is not one."""
    works = _find_definitions(outline.workloads, definitions.workloads)
    return Descriptions(
        arms=outline.about,
        workloads=_list_sentences(works),
        loads=_describe_loads(outline.loads, definitions.loads),
        metrics={label: _describe_metrics(definition) for label, definition in works.items()},
    )


def _describe_loads(labels: list[str], stored: Mapping[str, StoredDefinition]) -> dict[str, str]:
    """Return the sentence of each load, with the settings that are in its label."""
    parts = {label: split_settings(label) for label in labels}
    sentences = _list_sentences(_find_definitions([text for text, _ in parts.values()], stored))
    return {
        label: sentences[text] + "".join(f"; {name}={value}" for name, value in settings)
        for label, (text, settings) in parts.items()
        if text in sentences
    }


def _find_definitions(labels: list[str], stored: Mapping[str, StoredDefinition]) -> dict[str, dict[str, Any]]:
    """Return the definition of each label, which begins with its name, or that of its file."""
    read = {Path(name).name.removesuffix(".toml"): parse_toml(each.toml) for name, each in stored.items()}
    for name, definition in read.items():
        metrics = definition.get("metrics", {})
        if not isinstance(metrics, dict) or not all(isinstance(metric, dict) for metric in metrics.values()):
            raise ValueError(f"fact definitions: {name}: metrics is not a table of tables")
    names = {label: [name for name in read if f"{label}:".startswith(f"{name}:")] for label in labels}
    return {label: read[max(found, key=len)] for label, found in names.items() if found}


def _list_sentences(definitions: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    return {label: str(each["description"]) for label, each in definitions.items() if each.get("description")}


def _describe_metrics(definition: Mapping[str, Any]) -> dict[str, str]:
    metrics = definition.get("metrics", {})
    return {name: str(each["about"]) for name, each in metrics.items() if each.get("about")}
