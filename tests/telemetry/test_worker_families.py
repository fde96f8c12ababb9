"""The workers, as metrics."""

from forebay.telemetry.worker_families import ALONE, WorkerStatus, worker_families


def values(statuses):
    return {
        (sample.name, sample.labels["worker"]): sample.value
        for family in worker_families(statuses)
        for sample in family.samples
    }


def test_each_tells_whether_it_is_up_and_how_often_it_was_started_again():
    assert values([WorkerStatus(0), WorkerStatus(1, up=False, restarts=3)]) == {
        ("forebay_worker_up", "0"): 1.0,
        ("forebay_worker_up", "1"): 0.0,
        ("forebay_worker_restarts_total", "0"): 0.0,
        ("forebay_worker_restarts_total", "1"): 3.0,
    }


def test_one_process_is_one_worker():
    assert values(ALONE) == {("forebay_worker_up", "0"): 1.0, ("forebay_worker_restarts_total", "0"): 0.0}
