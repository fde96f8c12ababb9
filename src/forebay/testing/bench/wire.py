"""The bytes that the fake engine and the load generator agree on.

Both sides build the same answer from the request, so that the load generator can compare whole answers byte for byte. The
answer carries two digests of the request that the engine saw: of the whole body, and of its content alone. A router that
writes the JSON anew changes the first and must keep the second.
"""

import re

import xxhash

MODEL = "bench-vl"
CREATED = 1_700_000_000
"""Unix seconds in every answer: constant, so that answers can be compared."""
PROMPT_TOKENS = 512
"""What the fake engine reports for every prompt; it reads no image and counts no token."""
REPLY_TOKENS = 16

_TEXT = re.compile(rb'"content":\s*"([^"]*)"')


def body_digest(body: bytes) -> bytes:
    """128-bit xxh3 of a request body, in 32 hex digits."""
    return xxhash.xxh3_128_hexdigest(body).encode()


def content_digest(body: bytes) -> bytes:
    """64-bit xxh3, in 16 hex digits, of the first base64 payload, or of the first text content when there is none."""
    start = body.find(b"base64,")
    if start >= 0:
        start += len(b"base64,")
        end = body.find(b'"', start)
        content = body[start:] if end < 0 else body[start:end]
    else:
        match = _TEXT.search(body)
        content = match[1] if match else b""
    return xxhash.xxh3_64_hexdigest(content).encode()


def reply(digest: bytes, content: bytes) -> bytes:
    """The body of a chat completion that is not streamed: about 500 bytes, in vLLM's field order."""
    total = PROMPT_TOKENS + REPLY_TOKENS
    return (
        b'{"id":"chatcmpl-%b","object":"chat.completion","created":%d,"model":"%b","choices":[{"index":0,'
        b'"message":{"role":"assistant","content":"A picture of %b, said in sixteen tokens.","tool_calls":[]},'
        b'"logprobs":null,"finish_reason":"stop","stop_reason":null}],"usage":{"prompt_tokens":%d,"total_tokens":%d,'
        b'"completion_tokens":%d,"prompt_tokens_details":null},"prompt_logprobs":null}'
        % (digest, CREATED, MODEL.encode(), content, PROMPT_TOKENS, total, REPLY_TOKENS)
    )


class StreamText:
    """The events of one streamed answer, each with its `data: ` and its blank line."""

    def __init__(self, digest: bytes, content: bytes, count: int, *, usage: bool) -> None:
        """`count` content chunks (1 or more) follow the role chunk; `usage` asks for the usage chunk."""
        self.count = count
        self._content = content
        self._head = (
            b'data: {"id":"chatcmpl-%b","object":"chat.completion.chunk","created":%d,"model":"%b",'
            % (
                digest,
                CREATED,
                MODEL.encode(),
            )
        )
        self._usage = usage

    def opening(self) -> bytes:
        """The role chunk, which also carries the content digest."""
        delta = b'"choices":[{"index":0,"delta":{"role":"assistant","content":"%b"},"logprobs":null,"finish_reason":null}]}\n\n'
        return self._head + delta % self._content

    def chunk(self, index: int) -> bytes:
        """Content chunk `index`, from 0; the last one carries the finish reason."""
        if index == self.count - 1:
            tail = b'"logprobs":null,"finish_reason":"length","stop_reason":null}]}\n\n'
        else:
            tail = b'"logprobs":null,"finish_reason":null}]}\n\n'
        return self._head + b'"choices":[{"index":0,"delta":{"content":" t%d"},' % index + tail

    def closing(self) -> bytes:
        """The usage chunk, if asked for, and `[DONE]`."""
        done = b"data: [DONE]\n\n"
        if not self._usage:
            return done
        usage = b'"choices":[],"usage":{"prompt_tokens":%d,"total_tokens":%d,"completion_tokens":%d}}\n\n' % (
            PROMPT_TOKENS,
            PROMPT_TOKENS + self.count,
            self.count,
        )
        return self._head + usage + done

    def whole(self) -> bytes:
        """All the events of a finished stream."""
        return self.opening() + b"".join(map(self.chunk, range(self.count))) + self.closing()
