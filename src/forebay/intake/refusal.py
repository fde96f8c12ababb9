"""The one error that reading a request may raise."""


class Refusal(Exception):  # noqa: N818  it is an answer to the client, not a fault of ours
    """The request is refused before it is placed.

    `status` is 400..499, `code` a stable snake_case word, `message` names the place and the numbers and never holds what
    was sent as media or secret. `param` is the place in the body, such as `messages[2].content[0]`, or None.
    """

    def __init__(self, status: int, code: str, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.param = param


def bad_request(code: str, message: str, param: str | None = None) -> Refusal:
    """The refusal with status 400. The message is led by the place, when there is one."""
    return Refusal(400, code, f"{param}: {message}" if param else message, param)
