"""Options of the backend `openai`: read from a name, checked, and what of an address may be shown."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from langgraph_interleave.artifacts import canonical_json
from langgraph_interleave.backends.openai_profiles import Profile
from langgraph_interleave.backends.openai_sizes import MAX_LONG, MAX_SHORT
from langgraph_interleave.errors import ConfigError

KEY = "OPENAI_API_KEY"
#: Options that a name may carry: `model?quality=low`.
IN_NAME: Mapping[str, type] = {
    "background": str, "base_url": str, "billed": bool, "concurrency": int, "input_fidelity": str,
    "max_pixels": int, "max_prompt_tokens": int, "max_references": int, "moderation": str,
    "output_compression": int, "output_format": str, "partial_images": int, "profile": str, "quality": str,
    "response_format": str,
}  # fmt: skip
_TRUTH = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
_FORMATS = ("jpeg", "png", "webp")
_QUALITIES = ("low", "medium", "high", "xhigh", "max", "auto")


@dataclass(frozen=True, slots=True)
class Settings:
    """What is sent with every request, checked.

    Attributes:
        model: The model.
        profile: What the server takes.
        both: Fields of generating and editing.
        generating: Fields of generating alone.
        editing: Fields of editing alone.
        extra: Further fields of the operator's, unchecked.
        partial_images: Previews wanted of each picture, 0 to 3.
        max_references: References the model takes.
        max_prompt_tokens: Longest prompt the model reads; `None` where nobody knows.
        max_pixels: Largest area that is asked for; `None` for what the API allows.
    """

    model: str
    profile: Profile
    both: Mapping[str, Any]
    generating: Mapping[str, Any]
    editing: Mapping[str, Any]
    extra: Mapping[str, Any]
    partial_images: int
    max_references: int
    max_prompt_tokens: int | None
    max_pixels: int | None = None

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits that change with anything that changes the picture."""
        sent = {
            "profile": self.profile.name, **self.both, **self.generating, **self.editing, "extra": dict(self.extra),
            "max_prompt_tokens": self.max_prompt_tokens, **given(max_pixels=self.max_pixels),
        }  # fmt: skip
        return hashlib.sha256(canonical_json(sent)).hexdigest()[:8]


def checked_settings(
    model: str,
    profile: Profile,
    *,
    quality: str | None,
    background: str | None,
    output_format: str | None,
    output_compression: int | None,
    moderation: str | None,
    input_fidelity: str | None,
    response_format: str | None,
    partial_images: int,
    max_references: int | None,
    max_prompt_tokens: int | None,
    max_pixels: int | None,
    extra_body: Mapping[str, Any] | None,
) -> Settings:
    """The settings, if each of them is one.

    Raises:
        ConfigError: One is not.
    """
    if background == "transparent" and output_format == "jpeg":
        raise ConfigError("JPEG pictures cannot be transparent.", remedy='Set output_format="png" or "webp".')
    return Settings(
        model=model,
        profile=profile,
        both=given(
            quality=one_of("quality", quality, _QUALITIES),
            background=one_of("background", background, ("transparent", "opaque", "auto")),
            output_format=one_of("output_format", output_format, _FORMATS),
            output_compression=within("output_compression", output_compression, 0, 100),
            response_format=one_of("response_format", response_format, ("b64_json",)),
        ),
        generating=given(moderation=one_of("moderation", moderation, ("low", "auto"))),
        editing=given(input_fidelity=one_of("input_fidelity", input_fidelity, ("high", "low"))),
        extra=dict(extra_body or {}),
        partial_images=within("partial_images", partial_images, 0, 3) or 0,
        max_references=_references(max_references, profile),
        max_prompt_tokens=within("max_prompt_tokens", max_prompt_tokens, 1, 1_000_000),
        max_pixels=within("max_pixels", max_pixels, 64 * 64, MAX_LONG * MAX_SHORT),
    )


def _references(wanted: int | None, profile: Profile) -> int:
    if wanted is None:
        return profile.max_references
    if wanted and profile.edits == "none":
        raise ConfigError(
            f"Servers of the profile {profile.name} take no references.",
            remedy="Leave max_references out, or name the profile of your server (profile=…).",
        )
    return within("max_references", wanted, 0, 16) or 0


def read_name(text: str) -> tuple[str, dict[str, Any]]:
    """A model, and the options after its question mark.

    Raises:
        ConfigError: An option is unknown or cannot be read.

    Example:
        >>> read_name("flux?quality=low&billed=no")
        ('flux', {'quality': 'low', 'billed': False})
    """
    model, _, query = text.strip().partition("?")
    found: dict[str, Any] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name == "api_key":
            raise ConfigError("A key does not belong into a backend's name.", remedy=f"Set {KEY}.")
        if name not in IN_NAME:
            raise ConfigError(
                f"backend 'openai' has no option {name!r}.", remedy=f"Options: {', '.join(sorted(IN_NAME))}."
            )
        found[name] = _read_option(name, value, IN_NAME[name])
    return model, found


def given(**options: Any) -> dict[str, Any]:
    """Those options that were given."""
    return {name: value for name, value in options.items() if value is not None}


def one_of(name: str, value: str | None, known: tuple[str, ...]) -> str | None:
    """The value, if it is a known one."""
    if value is not None and value not in known:
        raise ConfigError(f"{name}={value!r} of backend 'openai' is unknown.", remedy=f"Use {', '.join(known)}.")
    return value


def within(name: str, value: int | None, low: int, high: int) -> int | None:
    """The value, if it is in range."""
    if value is not None and not low <= value <= high:
        raise ConfigError(f"{name}={value!r} of backend 'openai' is out of range.", remedy=f"Give {low} to {high}.")
    return value


def _read_option(name: str, text: str, kind: type) -> Any:
    if kind is bool and text.lower() in _TRUTH:
        return _TRUTH[text.lower()]
    if kind is int and text.isdecimal():
        return int(text)
    if kind is str and text:
        return text
    wanted = {bool: "yes or no", int: "a whole number", str: "a value"}[kind]
    raise ConfigError(f"{name}={text!r} of backend 'openai' cannot be read.", remedy=f"Give {wanted}.")


def checked_address(text: str) -> str:
    """The address, if it is one."""
    try:
        parts = urlsplit(text.strip())
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound:
        raise ConfigError(
            "base_url of backend 'openai' is no address.", remedy="Give http://host:port/v1 or https://…."
        )
    return text.strip()


def host_of(address: str) -> str:
    """Host and port; a user and password in an address stay out of what is shown and stored."""
    parts = urlsplit(address)
    return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
