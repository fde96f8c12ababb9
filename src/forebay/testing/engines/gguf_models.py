"""Tiny seeded random models in llama.cpp's file format, written when first needed.

The sizes are the least that the engine accepts. What such a model says means nothing; what it costs is real: the
engine decodes the sound, runs the encoder, fills its cache and counts its tokens as for any model.
"""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

RECIPE = 1
"""Part of the file names: raise it whenever the recipe changes, so that no stale file is taken for a new one."""

WIDTH = 64
LAYERS = 2
HEADS = 4
FEED_FORWARD = 128
CONTEXT_TOKENS = 8192
MEL_BINS = 128
AUDIO_POSITIONS = 1500  # whisper's encoder: 30 s at 50 frames a second

AUDIO_WINDOW_SECONDS = 30
AUDIO_WINDOW_TOKENS = 750
"""llama.cpp pads sound to whole windows; the encoder halves the 1500 frames of each."""

_WORD_LIST = (
    "the a of to and in is it you that he was for on are as with his they at be this have from or one had by word "
    "but not what all were we when your can said there use an each which she do how their if will up other about "
    "out many then them these so some her would make like him into time has look two more write go see number no "
    "way could people my than first water been call who oil its now find long down day did get come made may part"
)
WORDS = tuple(_WORD_LIST.split())
SPECIAL = ("<unk>", "<s>", "</s>", "<|audio_bos|>", "<|audio_eos|>")
CHAT_TEMPLATE = (
    "{% for m in messages %}{{ m['role'] + ': ' }}{% if m['content'] is string %}{{ m['content'] }}{% else %}"
    "{% for c in m['content'] %}{% if c['type'] == 'text' %}{{ c['text'] }}{% endif %}{% endfor %}{% endif %}"
    "{{ '\n' }}{% endfor %}{% if add_generation_prompt %}{{ 'assistant: ' }}{% endif %}"
)

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class AudioModel:
    """The two files of a model that hears."""

    language: Path
    encoder: Path


def cache_directory() -> Path:
    """Where written models are kept: `$XDG_CACHE_HOME/forebay/models`, or the same under `~/.cache`."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "forebay" / "models"


def audio_model(directory: Path | None = None) -> AudioModel:
    """Return the random model that hears, writing it into `directory` (the cache by default) if it is not there."""
    where = directory or cache_directory()
    where.mkdir(parents=True, exist_ok=True)
    model = AudioModel(
        where / f"tiny-audio-{RECIPE}.gguf",
        where / f"tiny-audio-mmproj-{RECIPE}.gguf",
    )
    if not model.language.exists():
        _write_atomically(model.language, _language_model)
    if not model.encoder.exists():
        _write_atomically(model.encoder, _audio_encoder)
    return model


def _write_atomically(target: Path, fill: Any) -> None:
    # Two processes may write at once; each renames a whole file, and both files are the same.
    handle, partial = tempfile.mkstemp(dir=target.parent, prefix=target.name)
    os.close(handle)
    fill(partial)
    Path(partial).replace(target)


class _Weights:
    """Draws a model's tensors from one seeded stream, in the order of the calls."""

    def __init__(self, writer: Any, seed: int) -> None:
        self._writer = writer
        self._rng = np.random.default_rng(seed)

    def normal(self, *shape: int) -> Floats:
        """Gaussian values."""
        return self._rng.standard_normal(shape).astype(np.float32)

    def matrix(self, name: str, *shape: int, half: bool = False) -> None:
        """Add a tensor scaled by the root of its fan-in, so that activations keep their size."""
        values = self.normal(*shape) * np.float32(0.5 / np.sqrt(shape[-1]))
        self.add(name, values.astype(np.float16) if half else values)

    def linear(self, name: str, outputs: int, inputs: int, *, bias: bool = True) -> None:
        """Add a dense layer with a zero bias."""
        self.matrix(f"{name}.weight", outputs, inputs)
        if bias:
            self.add(f"{name}.bias", np.zeros(outputs, np.float32))

    def norm(self, name: str, *, bias: bool = False) -> None:
        """Add a normalisation that changes nothing."""
        self.add(f"{name}.weight", np.ones(WIDTH, np.float32))
        if bias:
            self.add(f"{name}.bias", np.zeros(WIDTH, np.float32))

    def add(self, name: str, values: npt.NDArray[Any]) -> None:
        """Add a tensor as it is."""
        self._writer.add_tensor(name, values)


def _finish(writer: Any) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _language_model(path: str) -> None:
    import gguf

    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny-random-llama")
    writer.add_context_length(CONTEXT_TOKENS)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS // 2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    vocabulary, first_word = _add_tokenizer(writer)
    weights = _Weights(writer, seed=0)
    weights.add("token_embd.weight", weights.normal(vocabulary, WIDTH))
    output = weights.normal(vocabulary, WIDTH)
    # Rows of zeros score 0 and lose to the best of a hundred random rows: the model says whole words, never ends
    # by itself, and never emits half a character.
    output[:first_word] = output[first_word + len(WORDS) :] = 0
    weights.add("output.weight", output)
    weights.norm("output_norm")
    for layer in range(LAYERS):
        _language_block(weights, f"blk.{layer}.")
    _finish(writer)


def _language_block(weights: _Weights, prefix: str) -> None:
    weights.norm(prefix + "attn_norm")
    weights.norm(prefix + "ffn_norm")
    for name, outputs in (("attn_q", WIDTH), ("attn_k", WIDTH // 2), ("attn_v", WIDTH // 2)):
        weights.matrix(f"{prefix}{name}.weight", outputs, WIDTH)
    weights.matrix(prefix + "attn_output.weight", WIDTH, WIDTH)
    weights.matrix(prefix + "ffn_gate.weight", FEED_FORWARD, WIDTH)
    weights.matrix(prefix + "ffn_up.weight", FEED_FORWARD, WIDTH)
    weights.matrix(prefix + "ffn_down.weight", WIDTH, FEED_FORWARD)


def _add_tokenizer(writer: Any) -> tuple[int, int]:
    """Add a vocabulary of specials, bytes, words and characters; return its size and the first word's id."""
    from gguf import TokenType

    characters = "\u2581abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,!?:;'\"()-"
    entries = [(token, 0.0, TokenType.CONTROL) for token in SPECIAL]
    entries += [(f"<0x{byte:02X}>", 0.0, TokenType.BYTE) for byte in range(256)]
    first_word = len(entries)
    entries += [("\u2581" + word, -1.0 - rank, TokenType.NORMAL) for rank, word in enumerate(WORDS)]
    entries += [(character, -1000.0 - rank, TokenType.NORMAL) for rank, character in enumerate(characters)]
    writer.add_vocab_size(len(entries))
    writer.add_tokenizer_model("llama")
    writer.add_token_list([token.encode() for token, _, _ in entries])
    writer.add_token_scores([score for _, score, _ in entries])
    writer.add_token_types([kind for _, _, kind in entries])
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_add_bos_token(True)
    # Else the text behind each picture or sound, which is tokenized by itself, starts with a token of its own.
    writer.add_add_space_prefix(False)
    writer.add_chat_template(CHAT_TEMPLATE)
    return len(entries), first_word


def _audio_encoder(path: str) -> None:
    import gguf

    writer = gguf.GGUFWriter(path, "clip")
    writer.add_name("tiny-random-whisper")
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_bool("clip.use_gelu", True)
    writer.add_bool("clip.has_vision_encoder", False)
    writer.add_bool("clip.has_audio_encoder", True)
    writer.add_string("clip.audio.projector_type", "qwen2a")
    writer.add_uint32("clip.audio.embedding_length", WIDTH)
    writer.add_uint32("clip.audio.feed_forward_length", FEED_FORWARD)
    writer.add_uint32("clip.audio.block_count", LAYERS)
    writer.add_uint32("clip.audio.attention.head_count", HEADS)
    writer.add_uint32("clip.audio.num_mel_bins", MEL_BINS)
    writer.add_uint32("clip.audio.projection_dim", WIDTH)
    writer.add_float32("clip.audio.attention.layer_norm_epsilon", 1e-5)
    weights = _Weights(writer, seed=1)
    for index, inputs in ((1, MEL_BINS), (2, WIDTH)):
        weights.matrix(f"a.conv1d.{index}.weight", WIDTH, inputs, 3, half=True)
        weights.add(f"a.conv1d.{index}.bias", np.zeros((WIDTH, 1), np.float32))
    weights.matrix("a.position_embd.weight", AUDIO_POSITIONS, WIDTH)
    for layer in range(LAYERS):
        _encoder_block(weights, f"a.blk.{layer}.")
    weights.norm("a.post_ln", bias=True)
    weights.linear("mm.a.fc", WIDTH, WIDTH)
    _finish(writer)


def _encoder_block(weights: _Weights, prefix: str) -> None:
    for name in ("attn_q", "attn_k", "attn_v", "attn_out"):
        weights.linear(prefix + name, WIDTH, WIDTH, bias=name != "attn_k")
    weights.norm(prefix + "ln1", bias=True)
    weights.norm(prefix + "ln2", bias=True)
    weights.linear(prefix + "ffn_up", FEED_FORWARD, WIDTH)
    weights.linear(prefix + "ffn_down", WIDTH, FEED_FORWARD)
