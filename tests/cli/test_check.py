"""`forebay check`, and the command line around it."""

import pytest

from forebay import __version__
from forebay.cli.main import main

GOOD = """\
pools:
  - model: qwen2.5-vl-7b
    aliases: [gpt-4o]
    api_key_env: ENGINE_KEY
    endpoints: [{url: 'http://10.0.0.1:8000', device: a100-80gb}]
  - model: mystery
    timeouts: {total_seconds: 60}
    endpoints: [{url: 'http://10.0.0.2:8000', engine: vllm}]
"""


def test_version(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.strip() == f"forebay {__version__}"


def test_the_plan_is_printed_without_secrets(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("ENGINE_KEY", "sk-very-secret")
    path = tmp_path / "f.yaml"
    path.write_text(
        "workers: 3\n" + GOOD.replace("engine: vllm", "engine: vllm, encoder_budget_tokens: 16384")
    )
    assert main(["check", str(path)]) == 0
    out = capsys.readouterr().out
    assert "http://10.0.0.2:8000   vllm, device unknown, encoder budget 16,384 tokens" in out
    assert "pool qwen2.5-vl-7b (also gpt-4o)" in out
    assert "key sent" in out
    assert "3 workers, each a process" in out
    assert "sk-very-secret" not in out
    assert "not recognised" in out
    assert "total 60 s" in out
    assert "  1 retry a request" in out
    assert "2 pools, 2 endpoints: all is well" in out


def test_one_is_told_from_many(tmp_path, capsys):
    path = tmp_path / "f.yaml"
    path.write_text(
        "pools:\n  - model: m\n    endpoints: [{url: 'http://h:1'}]\n    retry: {max_retries: 0}\n"
    )
    assert main(["check", str(path)]) == 0
    out = capsys.readouterr().out
    assert "  0 retries a request" in out
    assert "1 pool, 1 endpoint: all is well" in out


def test_a_fault_ends_with_2_and_its_place(tmp_path, capsys):
    path = tmp_path / "f.yaml"
    path.write_text(GOOD.replace("aliases", "alises"))
    assert main(["check", str(path)]) == 2
    assert (
        "f.yaml:3:5: pools[0].alises: unknown field `alises`: did you mean `aliases`?"
        in capsys.readouterr().err
    )


def test_serve_wants_urls_or_a_file(capsys):
    assert main(["serve"]) == 2
    assert "give engine URLs, or --config FILE" in capsys.readouterr().err


def test_explain_says_when_no_gateway_answers(capsys):
    assert main(["explain", "req-1", "--admin", "127.0.0.1:1"]) == 1
    assert "no gateway answers at 127.0.0.1:1" in capsys.readouterr().err


def test_the_family_is_told_with_what_named_it_and_what_departs_from_its_defaults(tmp_path, capsys):
    served = tmp_path / "served"
    served.mkdir()
    (served / "config.json").write_text('{"model_type": "llava_next"}')
    grids = [[336, 336 * n] for n in range(1, 40)]
    (served / "preprocessor_config.json").write_text(
        f'{{"size": {{"shortest_edge": 336}}, "image_grid_pinpoints": {grids}}}'
    )
    (tmp_path / "qwen.json").write_text('{"max_pixels": 50176, "min_pixels": 6272}')
    path = tmp_path / "f.yaml"
    path.write_text("""\
pools:
  - model: mine
    preprocessor_config: served
    endpoints: [{url: 'http://h:1'}]
  - model: qwen2.5-vl-7b
    preprocessor_config: qwen.json
    endpoints: [{url: 'http://h:2'}]
  - model: other
    preprocessor_config: qwen.json
    family: {name: qwen2-vl, min_pixels: 3136, max_pixels: 100352}
    endpoints: [{url: 'http://h:3'}]
""")
    assert main(["check", str(path)]) == 0
    out = capsys.readouterr().out
    assert "  family llava-next, named by served/config.json\n    grid_pinpoints [[336, 336], " in out
    assert "tile_size" not in out  # as ever
    assert "  family qwen2.5-vl, named by the model's name\n" in out
    assert "    max_pixels 50176 by qwen.json, in place of 12845056\n" in out
    assert "    min_pixels 6272 by qwen.json, in place of 3136\n" in out
    assert (
        "  family qwen2-vl, named by `family`\n    max_pixels 100352 by `family`, in place of 12845056\n  profile"
        in out
    )


def test_a_name_that_the_files_contradict_is_told(tmp_path, capsys):
    (tmp_path / "config.json").write_text('{"model_type": "qwen3_vl"}')
    path = tmp_path / "f.yaml"
    path.write_text(
        "pools:\n  - {model: qwen2-vl, preprocessor_config: ., endpoints: [{url: 'http://h:1'}]}\n"
    )
    assert main(["check", str(path)]) == 0
    assert "<- the model's files say qwen3-vl: set `family`" in capsys.readouterr().out


def test_ways_in_and_sources_are_told(tmp_path, capsys):
    path = tmp_path / "f.yaml"
    path.write_text("""\
listen: ["[::]:8080", "unix:/run/forebay.sock"]
pools:
  - model: m
    tls: {insecure: true}
    endpoints:
      - url: unix:///run/engine.sock
      - discover: {dns: eng.test, port: 8000, scheme: https}
""")
    assert main(["check", str(path)]) == 0
    out = capsys.readouterr().out
    assert "listen [::]:8080, unix:/run/forebay.sock   admin 127.0.0.1:8081" in out
    assert "[0] unix:///run/engine.sock" in out
    assert "further ones from https://eng.test:8000" in out
    assert "certificates of engines are not looked at" in out
