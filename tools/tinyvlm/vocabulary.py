"""The tokenizer: byte-level BPE with Qwen2's specials and splitting rule, trained on the sentences of this world.

llama.cpp takes it as `gpt2` with `pre=qwen2`; every digit is a token of its own.
"""

from functools import cache

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from tinyvlm.drawing import COLOURS, SHAPES
from tinyvlm.questions import NO_PICTURE, NOTHING, SYSTEM_PROMPTS, WORDINGS, WORDS, fill
from tinyvlm.scenes import composed_answer

SIZE = 640
SPECIALS = (
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>", "<|box_start|>",
    "<|box_end|>", "<|quad_start|>", "<|quad_end|>", "<|vision_start|>", "<|vision_end|>", "<|vision_pad|>",
    "<|image_pad|>", "<|video_pad|>",
)  # fmt: skip
PAD, END = 0, 2
VISION_START, VISION_END, VISION_PAD, IMAGE_PAD, VIDEO_PAD = 9, 10, 11, 12, 13
QWEN2_SPLIT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_MESSAGES = "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
_END = "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
CHAT_TEMPLATE = (
    _MESSAGES
    + "{% if message['content'] is string %}{{ message['content'] }}{% else %}{% for part in message['content'] %}"
    "{% if part['type'] == 'image' or 'image' in part or 'image_url' in part %}<|vision_start|><|image_pad|><|vision_end|>"
    "{% elif part['type'] == 'video' or 'video' in part %}<|vision_start|><|video_pad|><|vision_end|>"
    "{% elif 'text' in part %}{{ part['text'] }}{% endif %}{% endfor %}{% endif %}" + _END
)
# llama.cpp puts its own tags around a picture, so that its template prints the text parts alone.
LLAMA_TEMPLATE = (
    _MESSAGES
    + "{% if message['content'] is string %}{{ message['content'] }}{% else %}{% for part in message['content'] %}"
    "{% if part['type'] == 'text' %}{{ part['text'] }}{% endif %}{% endfor %}{% endif %}" + _END
)


@cache
def tokenizer() -> Tokenizer:
    """Train the tokenizer; the same one each time, as its sentences are fixed."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(QWEN2_SPLIT), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    made.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE, special_tokens=list(SPECIALS), initial_alphabet=alphabet, show_progress=False
    )
    made.train_from_iterator(_sentences(), trainer)
    return made


@cache
def encode(text: str) -> tuple[int, ...]:
    """Token ids of a text that may hold specials."""
    return tuple(tokenizer().encode(text, add_special_tokens=False).ids)


def _sentences() -> list[str]:
    names = [(s, c) for s in SHAPES for c in COLOURS]
    questions = [fill(form, s, c) for forms in WORDINGS.values() for form in forms for s, c in names]
    answers = [composed_answer(n, c, s) for s, c in names for n in (1, 2)] + [
        f"{c} {s}, {c} {s}" for s, c in names
    ]
    plain = [
        "What is 1 plus 2?",
        "Say red.",
        "Repeat: blue.",
        "Is 1 more than 2?",
        "Is red a colour?",
        "Is red a shape?",
    ]
    places = [
        "top left",
        "top right",
        "bottom left",
        "bottom right",
        "center",
        "yes",
        "no",
        NOTHING,
        NO_PICTURE,
    ]
    few = [*places, *plain, *SYSTEM_PROMPTS, "user", "assistant", "system"]
    return questions + 2 * answers + 20 * few + 4 * list(WORDS)
