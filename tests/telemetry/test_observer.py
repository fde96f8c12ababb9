from forebay.telemetry.observer import Observers


class Ear:
    def __init__(self, fault=None):
        self.heard = []
        self.fault = fault

    def _hear(self, what):
        if self.fault is not None:
            raise self.fault
        self.heard.append(what)

    decided = ended = served = _hear


def test_all_are_told_although_one_is_faulty(decision, outcome, passage):
    ears = [Ear(), Ear(RuntimeError("x")), Ear()]
    observers = Observers(ears)
    told = [decision(), outcome(), passage()]
    observers.decided(told[0])
    observers.ended(told[1])
    observers.served(told[2])
    assert [ear.heard for ear in ears] == [told, [], told]
    assert observers.errors == 3
