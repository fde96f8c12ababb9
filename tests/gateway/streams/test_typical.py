from forebay.gateway.streams.typical import TypicalEvents


def event(text, number=0, key="content"):
    return f'data: {{"n":{number},"{key}":"{text}"}}\n\n'.encode()


def test_only_the_piece_may_differ():
    events = TypicalEvents()
    first = event("a")
    events.learn(first, first)
    other = event("b c \\n d")
    assert events.current.shown(other) is other
    for odd in (
        event("a", 1),
        event(""),
        event('a\\"b'),
        event("a\\\\"),
        event("a", key="text"),
        b"data: [DONE]\n\n",
    ):
        assert events.current.shown(odd) is None


def test_what_is_shown_may_differ_from_what_came():
    events = TypicalEvents()
    events.learn(event("a", 1), event("a", 2))
    assert events.current.shown(event("b", 1)) == event("b", 2)


def test_reasoning_is_told_apart():
    events = TypicalEvents()
    events.learn(event("a", key="reasoning_content"), event("a", key="reasoning_content"))
    assert events.current.is_reasoning
    events.learn(event("a"), event("a"))
    assert not events.current.is_reasoning


def test_an_event_with_two_pieces_or_none_teaches_nothing():
    events = TypicalEvents()
    for odd in (event('a","text":"b'), event('\\"'), b"data: {}\n\n"):
        events.learn(odd, odd)
        assert events.current is None


def test_a_stream_that_varies_elsewhere_is_given_up():
    events = TypicalEvents()
    for number in range(12):
        events.learn(event("a", number), event("a", number))
    assert events.current is None


def test_hits_keep_it_learning():
    events = TypicalEvents()
    for number in range(12):
        events.learn(event("a", number), event("a", number))
        events.hits += 1
    assert events.current is not None
