from forebay.telemetry.words import counted


def test_a_number_goes_with_its_noun():
    assert [counted(n, "pool") for n in (0, 1, 2)] == ["0 pools", "1 pool", "2 pools"]
    assert [counted(n, "try", "tries") for n in (1, 2)] == ["1 try", "2 tries"]
