"""The base of every record that is stored, streamed or returned."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """An immutable pydantic model that refuses unknown fields and serialises to plain JSON."""

    # Validators are built at first use: importing the package must cost next to nothing.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
