"""Whether a server answers and takes the key, asked where that costs nothing."""

from __future__ import annotations

from typing import Any

from langgraph_interleave.errors import ConfigError, Role, Unavailable
from langgraph_interleave.models.faults import call_error

_PATIENCE_S = 15.0


async def check_ready(client: Any, model: str, *, role: Role, what: str) -> None:
    """Ask an OpenAI client whether the model is there.

    Only OpenAI's own word on a model counts: compatible servers often list nothing.

    Args:
        client: An `AsyncOpenAI`; not resent by its SDK.
        model: Name of the model.
        role: Whose model it is.
        what: What it is called in messages.

    Raises:
        ConfigError: The key is refused, or the model is not there.
        Unavailable: Nobody answers.
    """
    try:
        await client.with_options(max_retries=0, timeout=_PATIENCE_S).models.retrieve(model)
    except Exception as error:  # what is not the key's, the model's or the connection's fault is for the call to say
        ours = call_error(error, role=role, what=what)
        if ours is None:
            raise
        own = getattr(client.base_url, "host", "") == "api.openai.com"
        refused = isinstance(ours, ConfigError) and (own or getattr(error, "status_code", None) in (401, 403))
        if refused or (isinstance(ours, Unavailable) and not ours.ambiguous):
            raise ours from error
