"""Chat models by name: `provider:model?option=value&option=value`.

    openai:gpt-5-mini
    anthropic:claude-sonnet-4-5?temperature=0.2&max_tokens=8000
    openai:InterleaveThinker-Planner-8B?base_url=http://127.0.0.1:8000/v1&output=tagged
    huggingface:Qwen/Qwen3-VL-8B-Instruct:fastest
    transformers:./checkpoints/planner?device=cuda&dtype=bfloat16

Providers are those of LangChain's `init_chat_model`; `transformers`, which runs a folder's or the hub's
weights in this process; and `huggingface`, which speaks to Hugging Face's router, or with `base_url` or
HF_BASE_URL to an endpoint of your own. `openai` with `base_url` is any server
that speaks OpenAI's protocol (vLLM, llama.cpp, SGLang, …). Keys come from the environment and never stand in
a name, because names end up in logs and records; `api_key_env=NAME` takes the key from another variable.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import warnings
from collections.abc import Collection, Iterable, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from langchain_core.language_models import BaseChatModel
from pydantic import AliasChoices, SecretStr, ValidationError

from langgraph_interleave.errors import ConfigError, InterleaveError

HUGGINGFACE_ROUTER = "https://router.huggingface.co/v1"
LOCAL = "transformers"

#: Providers and where their keys are looked for; the first is the one to name. None: they have other ways.
_KEYS: dict[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "azure_openai": ("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN"),
    "bedrock_converse": (),
    "cohere": ("COHERE_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "fireworks": ("FIREWORKS_API_KEY",),
    "google_genai": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "google_vertexai": (),
    "groq": ("GROQ_API_KEY",),
    "huggingface": ("HF_TOKEN", "HUGGINGFACEHUB_API_TOKEN"),
    "ibm": ("WATSONX_API_KEY",),
    "litellm": (),
    "mistralai": ("MISTRAL_API_KEY",),
    "nvidia": ("NVIDIA_API_KEY",),
    "ollama": (),
    "openai": ("OPENAI_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY",),
    "perplexity": ("PPLX_API_KEY", "PERPLEXITY_API_KEY"),
    "together": ("TOGETHER_API_KEY",),
    "transformers": (),
    "upstage": ("UPSTAGE_API_KEY",),
    "xai": ("XAI_API_KEY",),
}
#: What is meant when only a model is named; other beginnings are left to LangChain.
_BEGINNINGS = {
    "chatgpt": "openai", "claude": "anthropic", "deepseek": "deepseek", "gemini": "google_genai", "gpt-": "openai",
    "grok": "xai", "mistral": "mistralai", "o1": "openai", "o3": "openai", "o4": "openai",
}  # fmt: skip
_NO_KEY = "not-needed"
_KEY_ENV = "api_key_env"
_SECRET = re.compile(r"(?i)(?:^|_)(?:api_?key|access_key(?:_id)?|token|secret(?:_\w+)?|password|credentials?)$")
_NAME = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_PACKAGE = re.compile(r"pip install (?:-U )?`?([\w.-]+)")


def split_options(text: str) -> tuple[str, dict[str, str]]:
    """Split a name into `provider:model` and its options, as written; `%26` is an `&` in a value.

    Raises:
        ConfigError: An option has no name or no `=`, is given twice, or is a secret.

    Example:
        >>> split_options("openai:gpt-5-mini?output=tagged&temperature=0")
        ('openai:gpt-5-mini', {'output': 'tagged', 'temperature': '0'})
    """
    name, _, tail = text.strip().partition("?")
    options: dict[str, str] = {}
    for pair in filter(None, tail.split("&")):
        option, equals, value = pair.partition("=")
        option = unquote(option).strip()
        if _SECRET.search(option):
            raise ConfigError(
                f"The name of model {_shown(name)} holds a secret, {option}; names end up in logs.",
                remedy=f"Put it into the environment; {_KEY_ENV}=NAME names another variable than the usual one.",
            )
        if not equals or not _NAME.fullmatch(option):
            shown = option if _NAME.fullmatch(option) else "one"
            raise ConfigError(
                f"Model {_shown(name)} has an option that cannot be read ({shown}).",
                remedy="Write provider:model?option=value&option=value.",
            )
        if option in options:
            raise ConfigError(f"Model {_shown(name)} has the option {option} twice.", remedy="Give it once.")
        options[option] = unquote(value).strip()
    return name.strip(), options


def example_of(provider: str) -> str | None:
    """How a model of a provider is named; `None` for what is none.

    Example:
        >>> example_of("transformers"), example_of("ollama"), example_of("nobody")
        ('transformers:<folder>, or transformers:<owner>/<model> of the hub', 'ollama:<model>', None)
    """
    if provider not in _KEYS:
        return None
    local = f"{provider}:<folder>, or {provider}:<owner>/<model> of the hub"
    return local if provider == LOCAL else f"{provider}:<model>"


def chat_model(text: str, **options: Any) -> BaseChatModel:
    """Make a LangChain chat model by name. Nothing is sent; the SDK's own retries are off.

    Args:
        text: `provider:model?option=value…`; without a provider, the one whose models are called like that.
            Numbers, `true`, `false`, `null` and JSON are read as such, everything else is text.
        options: More options, as the model's class takes them; they go before those in the name.

    Raises:
        ConfigError: The provider is unknown or not installed, its key is missing, or it does not take these
            options. No message holds a key.

    Example:
        >>> chat_model("openai:planner?base_url=http://127.0.0.1:8000/v1&temperature=0").temperature
        0.0
    """
    model, _ = named_model(text, **options)
    return model


def named_model(text: str, own: Collection[str] = (), **options: Any) -> tuple[BaseChatModel, dict[str, str]]:
    """The same for a role: options named in `own` are its own, not the model's, and are returned as written.

    Example:
        >>> named_model("openai:planner?base_url=http://127.0.0.1:8000/v1&output=tagged", own=["output"])[1]
        {'output': 'tagged'}
    """
    name, written = split_options(text)
    left = {option: written.pop(option) for option in list(written) if option in own}
    provider, model = _split_provider(name)
    if (variable := written.pop(_KEY_ENV, None)) is not None:
        options.setdefault("api_key", _key_named(variable, name))
    given = {option: _value(value) for option, value in written.items()} | options
    if "base_url" in given:
        given["base_url"] = _address(given["base_url"], name)
    if provider == "huggingface":
        return _hugging_face(name, model, given), left
    if provider == LOCAL:
        if "billed" in own:
            # What runs here costs nothing, unless somebody says so.
            left.setdefault("billed", "false")
        return _local(name, model, given), left
    if provider == "openai" and (given.get("base_url") or _environment(("OPENAI_BASE_URL", "OPENAI_API_BASE"))):
        # Such a server need not ask for a key; the client insists on one.
        given = {"stream_usage": True, "api_key": _environment(_KEYS["openai"]) or _NO_KEY, **given}
    return _made(name, provider, model, given), left


def _split_provider(name: str) -> tuple[str, str]:
    provider, colon, model = (part.strip() for part in name.partition(":"))
    if not colon:
        provider, model = "", name
    if not model or (colon and not provider):
        raise ConfigError(f"{name!r} names no model.", remedy="Write provider:model, for example openai:gpt-5-mini.")
    if not colon:
        provider = next((guess for start, guess in _BEGINNINGS.items() if model.lower().startswith(start)), "")
    return provider.replace("-", "_").lower(), model


def _local(name: str, model: str, given: dict[str, Any]) -> BaseChatModel:
    """A model in this process; nothing of it is loaded yet."""
    from langgraph_interleave.models.transformers import TransformersChat

    for option in ("api_key", "base_url"):
        if option in given:
            raise ConfigError(
                f"Model {name!r} runs in this process, so it has no option {option!r}.",
                remedy="Leave it out, or write openai:name?base_url=… for a server.",
            )
    try:
        made = TransformersChat(model=model, **given)
    except (TypeError, ValueError, InterleaveError) as error:
        raise _refused(name, LOCAL, error, given) from None
    _check_options(name, made, given)
    return made


def _hugging_face(name: str, model: str, given: dict[str, Any]) -> BaseChatModel:
    address = given.pop("base_url", None) or _environment(("HF_BASE_URL",))
    key = given.pop("api_key", None) or _environment(_KEYS["huggingface"])
    if address is None:
        if not re.fullmatch(r"[\w.-]+/[\w.-]+(?::[\w.-]+)?", model):
            raise ConfigError(
                f"{model!r} is no model of the Hugging Face Hub.",
                remedy="Write huggingface:organisation/model, or organisation/model:provider.",
            )
        if key is None:
            raise _key_missing(name, "huggingface")
    given = {
        "stream_usage": True,
        **given,
        "base_url": _address(address or HUGGINGFACE_ROUTER, name),
        "api_key": key or _NO_KEY,
    }
    return _made(name, "openai", model, given)


def _made(name: str, provider: str, model: str, given: dict[str, Any]) -> BaseChatModel:
    try:
        made = _built(provider, model, {"max_retries": 0, **given})
    except (TypeError, ValueError) as error:
        # Some classes have no such field, and some of those refuse what they do not know.
        if "max_retries" in given or "max_retries" not in str(error):
            raise _refused(name, provider, error, given) from None
        made = _built_or_refused(name, provider, model, given)
    except Exception as error:  # noqa: BLE001 - SDKs raise whatever they like; the reader is told which model it was
        raise _refused(name, provider, error, given) from None
    if "max_retries" not in given and "max_retries" in _strays(made):
        made = _built_or_refused(name, provider, model, given)
    _check_options(name, made, given)
    if provider in _KEYS and _KEYS[provider] and not given.get("base_url") and not _has_key(made):
        raise _key_missing(name, provider)
    return made


def _built(provider: str, model: str, given: dict[str, Any]) -> BaseChatModel:
    from langchain.chat_models import init_chat_model

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a class does not know is an error here, not a warning
        return init_chat_model(model, model_provider=provider or None, **given)


def _built_or_refused(name: str, provider: str, model: str, given: dict[str, Any]) -> BaseChatModel:
    try:
        return _built(provider, model, given)
    except Exception as error:  # noqa: BLE001 - as above
        raise _refused(name, provider, error, given) from None


def _refused(name: str, provider: str, error: Exception, given: Mapping[str, Any]) -> InterleaveError:
    """The error that says why there is no model; nothing of the original is chained, for it may hold a key."""
    if isinstance(error, InterleaveError):
        return error
    if isinstance(error, ImportError):
        package = _PACKAGE.search(str(error))
        if package is None:
            return ConfigError(f"Model {name!r} cannot be loaded: {error}.", remedy="Reinstall its package.")
        return ConfigError(
            f"Model {name!r} needs {package[1]}, which is not installed.", remedy=f"Run: pip install {package[1]}"
        )
    if isinstance(error, ValueError) and re.match(r"Unsupported provider|Unable to infer model provider", str(error)):
        return _unknown_provider(name, provider)
    keys = _KEYS.get(provider, ())
    if keys and not any(_SECRET.search(option) for option in given) and _environment(keys) is None:
        return _key_missing(name, provider)
    if isinstance(error, ValidationError):
        told = error.errors(include_url=False, include_context=False, include_input=False)
        why = "; ".join(": ".join([".".join(map(str, one["loc"])), one["msg"]]).lstrip(": ") for one in told[:5])
    else:
        why = str(error)
    return ConfigError(
        f"Model {name!r} cannot be made: {_without_secrets(why, given, keys)}", remedy="Check its options."
    )


def _unknown_provider(name: str, provider: str) -> ConfigError:
    known = ", ".join(sorted(_KEYS))
    if not provider:
        return ConfigError(f"Model {name!r} names no provider.", remedy=f"Write provider:model. Some: {known}.")
    close = difflib.get_close_matches(provider, _KEYS, n=1)
    meant = f"Did you mean {close[0]}? " if close else ""
    return ConfigError(f"There is no provider {provider!r} (model {name!r}).", remedy=f"{meant}Some: {known}.")


def _key_missing(name: str, provider: str) -> ConfigError:
    variable = _KEYS[provider][0]
    return ConfigError(
        f"Model {name!r} needs a key, and {variable} is not set.",
        remedy=f"Set {variable} in the environment, or name another variable with {_KEY_ENV}=NAME.",
    )


def _key_named(variable: str, name: str) -> str:
    key = _environment((variable,)) if _NAME.fullmatch(variable) else None
    if key is None:
        # What stands there may be the key itself, so it is shown only when it looks like a variable.
        shown = variable if re.fullmatch(r"[A-Z][A-Z0-9_]{0,60}", variable) else f"the one {_KEY_ENV} names"
        raise ConfigError(
            f"Model {name!r} needs a key, and {shown} is not set.",
            remedy=f"{_KEY_ENV} takes the name of an environment variable, not the key.",
        )
    return key


def _check_options(name: str, made: BaseChatModel, given: Mapping[str, Any]) -> None:
    fields = type(made).model_fields
    known = {"model", "base_url", "max_retries", *fields}
    for field in fields.values():
        for alias in (field.alias, field.validation_alias):
            choices: Iterable[Any] = alias.choices if isinstance(alias, AliasChoices) else [alias]
            known |= {choice for choice in choices if isinstance(choice, str)}
    for option in given:
        if option in known:
            continue
        close = difflib.get_close_matches(option, known, n=1)
        meant = f"Did you mean {close[0]}? " if close else ""
        body = 'Parameters of the server\'s own go into extra_body={"…": …}.' if "extra_body" in fields else ""
        raise ConfigError(
            f"Model {name!r} ({type(made).__name__}) has no option {option!r}.",
            remedy=f"{meant}{body}".strip() or f"Options: {', '.join(sorted(fields))}.",
        )


def _strays(made: BaseChatModel) -> Collection[str]:
    """What the class did not know and would send to the provider."""
    strays = getattr(made, "model_kwargs", None)
    return list(strays) if isinstance(strays, Mapping) else ()


def _has_key(made: BaseChatModel) -> bool:
    """Whether a class that keeps its key as a secret has one; of other classes nothing is known."""
    secrets = [name for name, field in type(made).model_fields.items() if "SecretStr" in str(field.annotation)]
    values = [getattr(made, name, None) for name in secrets]
    return not secrets or any(not isinstance(one, SecretStr) or one.get_secret_value().strip() for one in values if one)


def _value(text: str) -> Any:
    """An option's value: a number, a word of JSON, a JSON object, list or quoted text, or else the text."""
    if text in _WORDS:
        return _WORDS[text]
    if _NUMBER.fullmatch(text) or (text[:1] in '[{"' and text[:1]):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def _address(address: object, name: str) -> str:
    parts = None
    try:
        parts = urlsplit(str(address))
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        valid = False
    if parts is None or not valid or "@" in parts.netloc:
        # Not shown: it may hold a password.
        raise ConfigError(
            f"The base_url of model {_shown(name)} is no address of a server, or holds a password.",
            remedy="Write it like http://127.0.0.1:8000/v1.",
        )
    if parts.path.rstrip("/").endswith(("/chat/completions", "/responses")):
        raise ConfigError(
            f"The base_url of model {_shown(name)} goes on too far.",
            remedy="End it before /chat/completions, for example http://127.0.0.1:8000/v1.",
        )
    return str(address)


def _environment(variables: Iterable[str]) -> str | None:
    return next((value for variable in variables if (value := os.environ.get(variable, "").strip())), None)


def _without_secrets(text: str, given: Mapping[str, Any], keys: Iterable[str]) -> str:
    held = [value for option, value in given.items() if _SECRET.search(option)]
    held += [os.environ.get(variable) for variable in keys]
    for one in held:
        secret = one.get_secret_value() if isinstance(one, SecretStr) else one
        if isinstance(secret, str) and len(secret) > 3:
            text = text.replace(secret, "…")
    return text[:500]


def _shown(name: str) -> str:
    return repr(name.strip()[:100])
