from forebay.telemetry.decisions import MAX_TRIES, DecisionLog


def test_all_tries_and_the_outcome_are_found_by_request(decision, outcome, passage):
    log = DecisionLog()
    tries = [decision(try_=0), decision(try_=1)]
    for one in tries:
        log.decided(one)
    log.ended(outcome())
    log.served(passage())
    story = log.find("r-1")
    assert (story.decisions, story.outcome) == (tries, outcome())


def test_what_was_never_decided_is_not_found(outcome):
    log = DecisionLog()
    log.ended(outcome())
    assert log.find("r-1") is None


def test_the_oldest_is_forgotten_first(decision):
    log = DecisionLog(requests=3)
    for number in range(5):
        log.decided(decision(f"r-{number}"))
    assert [log.find(f"r-{number}") is not None for number in range(5)] == [False, False, True, True, True]


def test_large_pools_are_bounded_by_their_candidates(decision, placement):
    log = DecisionLog(candidates=100)
    for number in range(10):
        log.decided(decision(f"r-{number}", placement=placement(totals=tuple(range(40)))))
    assert len(log) == 2
    assert log.find("r-9") is not None


def test_a_decision_beyond_the_bound_is_not_kept(decision, placement):
    log = DecisionLog(candidates=10)
    log.decided(decision(placement=placement(totals=tuple(range(40)))))
    assert len(log) == 0
    log.decided(decision("r-2"))
    assert log.find("r-2") is not None


def test_a_first_try_under_a_known_id_begins_a_new_story(decision, outcome):
    log = DecisionLog()
    log.decided(decision())
    log.ended(outcome())
    log.decided(decision(at=2000))
    story = log.find("r-1")
    assert ([one.at for one in story.decisions], story.outcome) == ([2000], None)


def test_the_tries_of_one_request_are_bounded(decision):
    log = DecisionLog()
    for try_ in range(3 * MAX_TRIES):
        log.decided(decision(try_=try_))
    assert len(log.find("r-1").decisions) <= MAX_TRIES
