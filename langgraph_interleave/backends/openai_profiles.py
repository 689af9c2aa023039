"""How servers that speak the OpenAI Images API differ from OpenAI's own, as data: one profile each.

Which profile a backend has is settled when it is made, from `profile=` or from `base_url` alone, in
this order; nothing is asked over the network, so the same settings always send the same requests:

1. `profile=` names it.
2. The host is OpenAI's or Azure OpenAI's: `openai`.
3. The host's name says it (`localai:8080`, `my-sglang.example`): `localai`, `ollama`, `sdcpp`,
   `sglang` or `vllm-omni`.
4. The port is one that only one of them listens on by default: 11434 is `ollama`, 30000 is `sglang`.
5. Anything else is `generic`: only what all of them take is sent.

Ports that many programs share (8000, 8080, 1234) say nothing. `OpenAIImagesBackend.aprofile()` asks
the server's list of models who it is, for those who do not know; it changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from langgraph_interleave.backends.prompts import Syntax
from langgraph_interleave.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Profile:
    """What a server takes.

    Attributes:
        name: What people type.
        response_format: It wants to be told `b64_json`; others refuse the very word.
        seed: How a seed is said: `field` (`seed` in the body), `prompt` (in sd-server's settings inside
            the prompt, where picture i of a call is drawn with `seed + i`), or not at all.
        negative: How words for what must not be there are said: in the `field` `negative_prompt`, in
            the prompt behind a `pipe`, or not at all.
        edits: References go as files to `/images/edits`, as `ref_images` in the JSON of
            `/images/generations`, or nowhere.
        max_references: References it takes, where that is known; the model may take fewer.
        max_images: Pictures in one call.
        size_multiple: Sides it keeps as they are are multiples of this.
        mask: It changes only what a mask marks.
        transparent: It takes `background`.
        quality: It takes `quality`.
        stream: It sends partial images.
        syntax: What it obeys inside a prompt.
        concurrency: Calls it works on at once.
        billed: Its pictures cost money, as a rule.
    """

    name: str
    response_format: bool = False
    seed: Literal["field", "prompt", "none"] = "none"
    negative: Literal["field", "pipe", "none"] = "none"
    edits: Literal["files", "json", "none"] = "files"
    max_references: int = 16
    max_images: int = 10
    size_multiple: int = 16
    mask: bool = False
    transparent: bool = False
    quality: bool = False
    stream: bool = False
    syntax: frozenset[Syntax] = frozenset()
    concurrency: int = 8
    billed: bool = False


PROFILES: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile("openai", mask=True, transparent=True, quality=True, stream=True, billed=True),
        Profile("vllm-omni", response_format=True, seed="field", negative="field"),
        Profile("sglang", response_format=True, seed="field", negative="field"),
        Profile(
            "localai", response_format=True, seed="field", negative="pipe", edits="json", size_multiple=8,
            syntax=frozenset({"pipe", "sd_cpp", "lora"}), concurrency=1,
        ),
        Profile(
            "sdcpp", seed="prompt", size_multiple=8, syntax=frozenset({"sd_cpp", "lora"}),
            concurrency=1,
        ),
        Profile("ollama", edits="none", max_references=0, max_images=1, concurrency=1),
        # Whoever it is: OpenAI's own words are let through, and what a server might obey is taken out.
        Profile(
            "generic", mask=True, transparent=True, quality=True, stream=True, billed=True,
            syntax=frozenset({"sd_cpp", "lora"}),
        ),
    )
}  # fmt: skip

_OFFICIAL = ("api.openai.com", "openai.azure.com", "services.ai.azure.com")
_IN_NAME = {
    "localai": "localai", "local-ai": "localai", "ollama": "ollama", "sd-server": "sdcpp", "sdcpp": "sdcpp",
    "stable-diffusion-cpp": "sdcpp", "sglang": "sglang", "vllm-omni": "vllm-omni", "vllm": "vllm-omni",
}  # fmt: skip
_BY_PORT = {11434: "ollama", 30000: "sglang"}
_OWNERS = (
    (re.compile(r"(?i)^vllm"), "vllm-omni"), (re.compile(r"(?i)^sglang"), "sglang"),
    (re.compile(r"(?i)^library$|^ollama"), "ollama"), (re.compile(r"(?i)^(?:system|openai)"), "openai"),
)  # fmt: skip


def profile_of(name: str | None, base_url: str) -> Profile:
    """The profile of a server: as named, else told from its address.

    Args:
        name: `openai`, `vllm-omni`, `sglang`, `localai`, `sdcpp`, `ollama`, `generic`, or `None`.
        base_url: Its address.

    Raises:
        ConfigError: There is no profile of that name.

    Example:
        >>> [profile_of(None, url).name for url in ("https://api.openai.com/v1", "http://127.0.0.1:11434/v1")]
        ['openai', 'ollama']
        >>> profile_of(None, "http://127.0.0.1:8080/v1").name, profile_of("localai", "http://127.0.0.1:8080/v1").edits
        ('generic', 'json')
    """
    if name is not None:
        known = PROFILES.get(name.strip().lower().replace("_", "-"))
        if known is None:
            raise ConfigError(f"profile={name!r} of backend 'openai' is unknown.", remedy=f"Use {', '.join(PROFILES)}.")
        return known
    parts = urlsplit(base_url)
    host = (parts.hostname or "").lower()
    if any(host == official or host.endswith(f".{official}") for official in _OFFICIAL):
        return PROFILES["openai"]
    said = next((profile for word, profile in _IN_NAME.items() if word in host), None)
    return PROFILES[said or _BY_PORT.get(parts.port or 0) or "generic"]


def told_by(models: Mapping[str, Any]) -> str | None:
    """Which profile a server's list of models points to, `None` where it does not say.

    Args:
        models: The body of `GET /models`.

    Example:
        >>> told_by({"data": [{"id": "Qwen/Qwen-Image", "owned_by": "vllm"}]})
        'vllm-omni'
    """
    listed = models.get("data")
    entries = [entry for entry in listed if isinstance(entry, Mapping)] if isinstance(listed, list) else []
    for entry in entries:
        if str(entry.get("id", "")).startswith("sd-cpp"):
            return "sdcpp"
        for pattern, profile in _OWNERS:
            if pattern.search(str(entry.get("owned_by") or "")):
                return profile
    # LocalAI names no owner.
    if entries and all("owned_by" not in entry and entry.get("object") == "model" for entry in entries):
        return "localai"
    return None
