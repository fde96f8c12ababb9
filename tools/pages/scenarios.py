"""Scenarios: the file's shape, and the workloads' settings."""

import inspect

from forebay.simulator.scenario import ScenarioFile
from forebay.simulator.workloads.catalogue import WORKLOADS
from forebay.simulator.workloads.pictures import Reuse
from pages.settings import sections, settings_table
from pages.text import prose


def scenarios() -> str:
    text = "# Scenarios\n\nWhat `forebay simulate` and `forebay bench placement` are given: YAML, read as strictly as the configuration. "
    text += "How to write one: [Simulate a fleet](../how-to/simulate.md).\n\n" + "".join(
        sections(ScenarioFile)
    )
    text += "## Workloads\n\n`workload` is one of these names, a mapping with `name` and these settings, or a list of such, each with its `weight` (1).\n\n"
    for name, workload in WORKLOADS.items():
        told = (inspect.getdoc(inspect.getmodule(workload)) or "") + "\n\n"
        text += f"### `{name}`\n\n{told}{prose(workload)}{settings_table(workload)}"
    return text + f"### `reuse`\n\n{prose(Reuse)}{settings_table(Reuse)}"
