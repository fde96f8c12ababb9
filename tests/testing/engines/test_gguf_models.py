import pytest

from forebay.testing.engines import gguf_models

pytest.importorskip("gguf", reason="MODEL WRITER NOT TESTED: gguf is not installed (requirements/demo.txt)")


def test_the_model_is_written_once_and_is_always_the_same(tmp_path):
    first = gguf_models.audio_model(tmp_path / "a")
    second = gguf_models.audio_model(tmp_path / "b")
    assert first.language.read_bytes() == second.language.read_bytes()
    assert first.encoder.read_bytes() == second.encoder.read_bytes()
    written_at = first.language.stat().st_mtime_ns
    assert gguf_models.audio_model(tmp_path / "a") == first
    assert first.language.stat().st_mtime_ns == written_at
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == [
        "tiny-audio-1.gguf",
        "tiny-audio-mmproj-1.gguf",
    ]


def test_the_cache_follows_the_xdg_variable(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert gguf_models.cache_directory() == tmp_path / "forebay" / "models"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert gguf_models.cache_directory().parts[-3:] == (".cache", "forebay", "models")
