"""Where a local model runs and in which numbers: checked before anything is loaded."""

from __future__ import annotations

from typing import Any, Literal

from langgraph_interleave.errors import ConfigError
from langgraph_interleave.models.libraries import PIP, has, library

Quantization = Literal["4bit", "8bit"]
#: Short names people type, and the full ones.
DTYPES = {
    "auto": "auto", "bf16": "bfloat16", "bfloat16": "bfloat16", "fp16": "float16", "half": "float16",
    "float16": "float16", "fp32": "float32", "float32": "float32",
}  # fmt: skip
#: Over all accelerators there are, and the machine's memory.
SPREAD = "spread"
_KINDS = ("cpu", "cuda", "mps", "xpu")


def dtype_name(dtype: str) -> str:
    """The full name of a number format.

    Raises:
        ConfigError: There is no such format.

    Example:
        >>> dtype_name("bf16")
        'bfloat16'
    """
    name = dtype.removeprefix("torch.")
    if name not in DTYPES:
        raise ConfigError(
            f"dtype={dtype!r} of a local model is unknown.", remedy="Use auto, bfloat16, float16 or float32."
        )
    return DTYPES[name]


def check_name(device: str) -> str:
    """A device's name, if it can be one.

    Raises:
        ConfigError: It cannot.

    Example:
        >>> check_name("cuda:1")
        'cuda:1'
    """
    kind, colon, number = device.partition(":")
    if device not in ("auto", SPREAD) and (kind not in _KINDS or bool(colon) != number.isdecimal()):
        raise ConfigError(
            f"device={device!r} of a local model is unknown.", remedy="Use auto, cuda, cuda:1, mps, xpu, cpu or spread."
        )
    return device


def choose_device(device: str, quantization: Quantization | None) -> str:
    """The device that a name means here.

    Raises:
        ConfigError: It is not there, or what is needed for it is not installed.
    """
    torch = library("torch")
    if device == SPREAD:
        if not has("accelerate"):
            raise ConfigError("device='spread' needs accelerate, which is not installed.", remedy=PIP)
        return device
    chosen = _best(torch) if device == "auto" else device
    kind, _, number = chosen.partition(":")
    if not _is_there(torch, kind):
        raise ConfigError(
            f"device={device!r} was asked for, and torch {torch.__version__} sees none.",
            remedy=f"Use device={_best(torch)!r}, or install a torch built for it.",
        )
    if number and kind == "cuda" and int(number) >= torch.cuda.device_count():
        raise ConfigError(
            f"device={device!r} is not there: torch sees {torch.cuda.device_count()}.", remedy="Use a smaller number."
        )
    if quantization is not None:
        if kind not in ("cuda", "xpu"):
            raise ConfigError(
                f"quantization={quantization!r} needs a GPU (cuda, xpu), and this model is to run on {kind}.",
                remedy="Leave quantization out, or name a GPU as device.",
            )
        if not has("bitsandbytes"):
            raise ConfigError(
                f"quantization={quantization!r} needs bitsandbytes, which is not installed.",
                remedy="Run: pip install bitsandbytes",
            )
    return chosen


def choose_dtype(dtype: str, device: str, stored: str | None) -> str:
    """The number format that a name means on a device.

    Args:
        dtype: The full name, or `auto`.
        device: As chosen.
        stored: What the weights are stored in.

    Raises:
        ConfigError: The device cannot compute in it.
    """
    torch = library("torch")
    kind = device.partition(":")[0]
    name = (stored or "float32") if dtype == "auto" else dtype
    if dtype == "auto" and kind == "cpu" and name == "float16":
        # Slower on CPUs, and not computed by every layer.
        return "float32"
    if kind == "cpu" and name == "float16":
        raise ConfigError(
            "float16 on a CPU is not computed by every layer, and slowly.", remedy="Use dtype=bfloat16 or float32."
        )
    if kind == "cuda" and name == "bfloat16" and not torch.cuda.is_bf16_supported():
        if dtype == "auto":
            return "float16"
        raise ConfigError("This GPU cannot compute in bfloat16.", remedy="Use dtype=float16.")
    return name


def is_out_of_memory(error: BaseException) -> bool:
    """Whether a device, or the machine, had no memory left."""
    torch = library("torch")
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    said = str(error).lower()
    return isinstance(error, RuntimeError) and ("out of memory" in said or "can't allocate memory" in said)


def free_memory() -> None:
    """Give back what nothing holds any more."""
    import gc

    torch = library("torch")
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    if torch.backends.mps.is_available():
        torch.mps.empty_cache()
    if hasattr(torch, "xpu") and torch.xpu.is_available():
        torch.xpu.empty_cache()


def _best(torch: Any) -> str:
    return next(kind for kind in ("cuda", "xpu", "mps", "cpu") if _is_there(torch, kind))


def _is_there(torch: Any, kind: str) -> bool:
    match kind:
        case "cuda":
            return bool(torch.cuda.is_available())
        case "mps":
            return bool(torch.backends.mps.is_available())
        case "xpu":
            return hasattr(torch, "xpu") and bool(torch.xpu.is_available())
        case _:
            return True
