"""What the makers of vectors share: seeded sizes, and processors without checkpoints to ask about them."""

import numpy as np

SIZES = 360


def sizes(chance, count=SIZES):
    """Fixed corners, then sides drawn evenly over their logarithm, as real pictures and hostile ones both come."""
    corners = [
        (1, 1),
        (1, 200),
        (200, 1),
        (1, 201),
        (2000, 10),
        (2001, 10),
        (1, 30000),
        (16384, 16384),
        (448, 448),
    ]
    drawn = [
        (round(2 ** chance.uniform(0, 13.6)), round(2 ** chance.uniform(0, 13.6))) for _ in range(count // 2)
    ]
    usual = [(chance.randint(32, 4096), chance.randint(32, 4096)) for _ in range(count // 2)]
    return corners + drawn + usual


def asked(question, *arguments):
    """The answer, or None where the package refuses: an extreme aspect, or a clip of too few frames to sample."""
    try:
        return question(*arguments)
    except (ValueError, ZeroDivisionError):
        return None


def bare(kind, **attributes):
    """A processor without tokenizer or checkpoint: its own methods, over these attributes."""
    processor = object.__new__(kind)
    for name, value in attributes.items():
        setattr(processor, name, value)
    return processor


def blank(width, height):
    """A picture of that shape that takes no memory."""
    return np.broadcast_to(np.uint8(0), (3, height, width))


def image_set(settings, question, chance, count=SIZES):
    rows = [[width, height, asked(question, width, height)] for width, height in sizes(chance, count)]
    return {"settings": settings, "columns": ["width", "height", "tokens"], "rows": rows}


def picture_rows(question, chance, count=40):
    """Rows of usual pictures."""
    measures = [(1, 1), (640, 480), (1920, 1080), (4000, 3000)]
    measures += [(chance.randint(8, 4096), chance.randint(8, 4096)) for _ in range(count)]
    return [[width, height, asked(question, width, height)] for width, height in measures]
