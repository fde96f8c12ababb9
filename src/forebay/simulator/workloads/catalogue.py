"""Every workload by the name that scenarios give it."""

from collections.abc import Mapping
from typing import Any

from forebay.simulator.workloads.azure_multimodal import AzureMultimodal
from forebay.simulator.workloads.azure_text import AzureText
from forebay.simulator.workloads.live_commerce import LiveCommerce
from forebay.simulator.workloads.mooncake import Mooncake
from forebay.simulator.workloads.servegen import ServeGen
from forebay.simulator.workloads.vqa import ShortAnswers

WORKLOADS: Mapping[str, type[Any]] = {
    "servegen": ServeGen,
    "azure-text": AzureText,
    "azure-multimodal": AzureMultimodal,
    "mooncake": Mooncake,
    "short-answers": ShortAnswers,
    "live-commerce": LiveCommerce,
}
