"""OpenVINO Model Server's metric names. It tells how many requests are inside, and not how many of them wait.

A language model is served by a graph, and one request is one graph; `ovms_current_requests` counts plain models.
"""

from forebay.fleet.dialects.base import Dialect

DIALECT = Dialect(
    engine="openvino",
    running=("ovms_current_graphs", "ovms_current_requests"),
    waiting=(),
    parts=("name", "version"),
    hint="start the model server with --metrics_enable",
)
