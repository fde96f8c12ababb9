"""LoRA adapters: where each may go, by what is declared and what engines list."""

from forebay.conductor.adapters import Adapters
from forebay.conductor.commands import Dispatch, Reject
from forebay.conductor.events import Arrived, PlanChanged, ViewChanged
from forebay.domain.endpoint import EndpointView
from forebay.testing import build


def view(slot, *adapters, known=True):
    return EndpointView(slot, reachable=True, models=("m", *adapters), adapters=adapters if known else None)


def test_who_lists_it_has_it_and_who_is_unknown_may():
    adapters = Adapters(("a", "b"))
    adapters.locate([0, 1, 2], {0: view(0, "a", "c"), 1: view(1)})
    assert adapters.slots("a") == {0, 2}
    assert adapters.slots("b") is None  # nobody lists it: whoever is asked may load it
    assert adapters.slots("c") == {0, 2}
    assert adapters.slots("m") is None
    assert list(adapters.names) == ["a", "b", "c"]


def test_one_that_was_reported_and_is_gone_is_nowhere():
    adapters = Adapters(())
    adapters.locate([0], {0: view(0, "c")})
    adapters.locate([0], {0: view(0)})
    assert "c" in adapters
    assert adapters.slots("c") == frozenset()


def test_a_new_plan_keeps_what_was_reported():
    adapters = Adapters(("a",))
    adapters.locate([0], {0: view(0, "c")})
    adapters.adopt(("b",))
    adapters.locate([0], {0: view(0, "c")})
    assert list(adapters.names) == ["b", "a", "c"]
    assert (adapters.slots("a"), adapters.slots("b"), adapters.slots("c")) == (frozenset(), None, {0})


def asked(conductor, model, request_id="r"):
    told = conductor.handle(Arrived(1, build.request(request_id, model=model)))
    return next(command for command in told if isinstance(command, Dispatch | Reject))


def test_a_request_goes_where_its_adapter_is_and_keeps_its_name():
    conductor = build.conductor(build.pool(3, adapters=("ad-a",), aliases=("fast",)))
    conductor.handle(ViewChanged(0, (view(0), view(1, "ad-a"), view(2, "ad-r"))))
    for number in range(4):
        command = asked(conductor, "ad-a", f"a{number}")
        assert (command.endpoint.slot, command.model) == (1, "ad-a")
    command = asked(conductor, "ad-r")
    assert (command.endpoint.slot, command.model) == (2, "ad-r")
    assert asked(conductor, "fast", "f").model == "m"
    assert asked(conductor, "nope", "n").code == "model-not-found"


def test_an_adapter_that_left_its_engines_is_not_found():
    conductor = build.conductor(build.pool(2))
    conductor.handle(ViewChanged(0, (view(0, "ad-r"), view(1))))
    conductor.handle(ViewChanged(0, (view(0), view(1))))
    command = asked(conductor, "ad-r")
    assert (command.status, command.code) == (404, "model-not-found")


def test_names_of_the_plan_go_before_reported_ones():
    conductor = build.conductor(
        build.pool((build.endpoint(0),)), build.pool((build.endpoint(1),), model="n", aliases=("x",))
    )
    conductor.handle(ViewChanged(0, (view(0, "x", "y"),)))
    assert asked(conductor, "x", "1").endpoint.slot == 1
    assert asked(conductor, "y", "2").endpoint.slot == 0


def test_a_new_plan_brings_adapters():
    conductor = build.conductor(build.pool(2))
    assert asked(conductor, "ad-a").code == "model-not-found"
    conductor.handle(PlanChanged(1, build.plan(build.pool(2, adapters=("ad-a",)), version=2)))
    assert asked(conductor, "ad-a").model == "ad-a"


def test_an_adapter_computes_other_states_from_the_same_prompt():
    conductor = build.conductor(build.pool(1, adapters=("ad-a",)))
    pool = conductor.pools["m"]
    request = build.request("1", prefix_blocks=(1, 2), prefix_tokens=(64, 128))
    conductor.handle(Arrived(1, request))
    demand = pool.demand(build.request("2", text=build.request().text))
    for model, cached in (("m", True), ("ad-a", False)):
        ask = pool.ask(
            build.request("2", model=model, prefix_blocks=(1, 2), prefix_tokens=(64, 128)), demand, 2, ()
        )
        assert bool(ask.cached_tokens) is cached
