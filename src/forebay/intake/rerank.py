"""Reranking: a query against documents, as Cohere, Jina, vLLM, SGLang, llama.cpp and TEI (`texts`) write it."""

import msgspec

from forebay.domain.request import Api
from forebay.intake.content import read_content
from forebay.intake.form import Replies
from forebay.intake.json_form import COMMON, JsonForm
from forebay.intake.members import Members
from forebay.intake.prompt import Prompt

SENSITIVE = frozenset(["query", "documents", "texts"])

_LIST = msgspec.json.Decoder(list[msgspec.Raw] | dict[str, msgspec.Raw])


def read_rerank(members: Members, prompt: Prompt) -> None:
    """Read the query once for each document: an engine reads them together. Raises a Refusal."""
    read_content(members, prompt, "query", "documents", "texts")
    prompt.unread((count_documents(members) - 1) * len(members.raw("query")))


def count_documents(members: Members) -> int:
    """How many documents there are, at least 1: each is weighed by itself."""
    given = members.get("documents", _LIST) or members.get("texts", _LIST) or []
    return max(1, len(given)) if isinstance(given, list) else 1


FORM = JsonForm(
    Api.RERANK,
    read_rerank,
    COMMON | SENSITIVE,
    prompts=count_documents,
    replies=Replies.TYPED,
    paths=("/rerank", "/v2/rerank", "/v1/reranking", "/reranking"),
)
