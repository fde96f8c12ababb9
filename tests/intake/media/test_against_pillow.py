"""Pictures measured as Pillow measures them, which is what vLLM, SGLang and transformers open them with."""

import io

import pytest
from PIL import Image

from forebay.intake.media.probe import probe

ORIENTATION = 0x0112
SIZES = ((1, 1), (64, 48), (255, 256), (300, 7))
MODES = {
    "PNG": ("RGB", "RGBA", "L", "P", "1", "I;16"),
    "JPEG": ("RGB", "L", "CMYK"),
    "GIF": ("RGB", "L", "P"),
    "WEBP": ("RGB", "RGBA"),
    "BMP": ("RGB", "L", "P", "1"),
    "TIFF": ("RGB", "RGBA", "L", "P", "1", "CMYK"),
}
TURNED = ("PNG", "JPEG", "WEBP", "TIFF")
ANIMATED = ("PNG", "GIF", "WEBP", "TIFF")


def saved(format_, picture, **options):
    out = io.BytesIO()
    picture.save(out, format_, **options)
    return out.getvalue()


def opened(data):
    """Width, height, frames and orientation."""
    with Image.open(io.BytesIO(data)) as picture:
        return (*picture.size, getattr(picture, "n_frames", 1), picture.getexif().get(ORIENTATION, 1))


def probed(data):
    header = probe(data)
    assert header.sized
    return header.width, header.height, header.frames, header.orientation


@pytest.mark.parametrize(
    ("format_", "mode"), [(name, mode) for name, modes in MODES.items() for mode in modes]
)
@pytest.mark.parametrize("size", SIZES)
def test_sizes_in_every_mode(format_, mode, size):
    data = saved(format_, Image.new(mode, size))
    assert probed(data) == opened(data)


@pytest.mark.parametrize("format_", TURNED)
@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientations(format_, orientation):
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    data = saved(format_, Image.new("RGB", (64, 48)), exif=exif)
    width, height, _, told = opened(data)
    # Pillow turns a TIFF as it opens it, and still shows the tag.
    expected = (width, height, 1, 1 if format_ == "TIFF" else told)
    assert probed(data) == expected


@pytest.mark.parametrize("format_", ANIMATED)
@pytest.mark.parametrize("frames", [2, 5])
def test_frames(format_, frames):
    pictures = [Image.new("RGB", (64, 48), (50 * number, 9, 255 - number)) for number in range(frames)]
    data = saved(format_, pictures[0], save_all=True, append_images=pictures[1:])
    assert probed(data)[2] == opened(data)[2] == frames
