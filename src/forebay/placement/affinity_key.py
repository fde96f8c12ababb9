"""What makes two requests belong together: one tenant, the same beginning, the same first medium."""

import xxhash

from forebay.domain.request import InferenceRequest

# 4 blocks of 256 bytes, some 256 tokens. Fewer would see no further than the system prompt that all users share; more
# would part the turns of one conversation, whose key stands still only once the prompt is this long.
KEY_BLOCKS = 4


def affinity_key(request: InferenceRequest) -> int:
    """A hash of 64 bits, the same in every worker and gateway; 0 for a prompt too short to be worth a home.

    The blocks are chained, so that the last of the first few stands for all of them. Media are part of the blocks, by
    their decoded bytes; the first one counts also when it stands after them. Later ones do not: a conversation that
    grows by a picture a turn stays where its beginning is.
    """
    blocks = request.prefix_blocks[:KEY_BLOCKS]
    medium = next((item.content_hash for item in request.media if item.content_hash), 0)
    if not blocks and not medium:
        return 0
    beginning = blocks[-1] if blocks else 0
    return xxhash.xxh3_64_intdigest(beginning.to_bytes(8) + medium.to_bytes(16) + request.tenant.encode())
