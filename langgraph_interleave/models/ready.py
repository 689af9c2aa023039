"""Whether a server answers and takes the key, asked where that costs nothing."""

from __future__ import annotations

from typing import Any

from langgraph_interleave.errors import ConfigError, Role
from langgraph_interleave.models.faults import call_error

PATIENCE_S = 15.0


async def check_ready(client: Any, model: str, *, role: Role, what: str) -> None:
    """Ask an OpenAI client whether key and model are taken.

    Compatible servers need not tell of models, and a key may be for pictures alone: what only means
    that is no objection.

    Args:
        client: An `AsyncOpenAI`.
        model: Name of the model.
        role: Whose model it is.
        what: What it is called in messages.

    Raises:
        ConfigError: The key is refused, the model is not there, or the address is no API's.
        CallError: Nobody answers.
    """
    host = getattr(client.base_url, "host", "") or "the server"
    try:
        found: object = await client.with_options(max_retries=0, timeout=PATIENCE_S).models.retrieve(model)
    except Exception as error:  # each becomes one of ours, or goes on as the bug it is
        status = getattr(error, "status_code", None)
        silent = status in (404, 405, 501) and host != "api.openai.com"
        if silent or (status == 403 and "scope" in str(error).lower()):
            return
        ours = call_error(error, role=role, what=what)
        if ours is None:
            raise
        # Nothing of the original is chained: a header that cannot be sent is quoted in it, key and all.
        raise ours from (None if isinstance(ours, ConfigError) else error)
    if isinstance(found, str):
        raise ConfigError(f"{host} answers with a web page, not as an API.", remedy="Check base_url: most end in /v1.")
