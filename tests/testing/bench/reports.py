"""A small report with figures that can be checked by hand."""

from forebay.testing.bench.jobs import Result
from forebay.testing.bench.results import CaseFacts, Memory, Report, Sample

CPU_US = {"nginx": [40, 50, 60], "vllm-router": [100, 200, 400], "forebay": [60, 100, 160]}
LATENCY_US = {"direct": [200, 300], "nginx": [400, 600], "vllm-router": [500, 900], "forebay": [450, 2500]}


def sample(name, case, number, cpu_us, **load):
    return Sample(name, case, number, 1000, cpu_us / 1000, Result(done=1000, **load))


def report():
    samples = [
        sample(name, "text-1kb", number, cpu)
        for name, series in CPU_US.items()
        for number, cpu in enumerate(series)
    ]
    samples += [
        sample(
            name,
            "latency",
            number,
            300 if name != "direct" else 0,
            latencies_us=[number + us for us in series],
        )
        for name, series in LATENCY_US.items()
        for number in range(3)
    ]
    return Report(
        date="2026-01-02T03:04:05+00:00",
        machine={
            "processor": "P",
            "cores": "2",
            "memory": "4 GiB",
            "system": "S",
            "kernel": "K",
            "placement": "here",
        },
        versions={"direct": "3.11", "nginx": "1.22", "vllm-router": "0.1", "forebay": "0.1.0"},
        missing={},
        plan="full",
        rounds=3,
        streams_wanted=10_000,
        cases=[CaseFacts("text-1kb", "1 KB text", "cpu"), CaseFacts("latency", "1 KB text, 50/s", "latency")],
        samples=samples,
        memory=[
            Memory("nginx", 1000, 10_000_000, 30_000_000, 0),
            Memory("forebay", 1000, 50_000_000, 90_000_000, 0),
        ],
        notes=["a thing to know"],
    )
