"""Where a pipeline runs and in which numbers, decided and checked before anything is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from langgraph_interleave.errors import ConfigError
from langgraph_interleave.models.libraries import library

Offload = Literal["none", "model", "sequential", "group"]
OFFLOADS: tuple[Offload, ...] = ("none", "model", "sequential", "group")
#: Short names people type, and the full ones.
DTYPES = {
    "bf16": "bfloat16", "bfloat16": "bfloat16", "fp16": "float16", "half": "float16", "float16": "float16",
    "fp32": "float32", "float32": "float32", "fp64": "float64", "float64": "float64",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Hardware:
    """A device and a number format that go together."""

    device: str
    dtype: Any


def dtype_name(dtype: Any) -> str | None:
    """The name of a number format, given by name or as a `torch.dtype`.

    Raises:
        ConfigError: There is no such format.

    Example:
        >>> dtype_name("bf16"), dtype_name(None)
        ('bfloat16', None)
    """
    if dtype is None or dtype == "auto":
        return None
    name = str(dtype).removeprefix("torch.")
    if name not in DTYPES:
        raise ConfigError(
            f"dtype={name!r} of the backend diffusers is unknown.", remedy="Use bfloat16, float16, float32 or auto."
        )
    return DTYPES[name]


def choose(device: str | None, dtype: str | None, offload: Offload = "none") -> Hardware:
    """The device and number format to use; by default the best of this machine.

    Raises:
        ConfigError: The device is not there, or cannot compute in this format.
    """
    torch = library("torch")
    named, device = device is not None, device or best_device(torch)
    kind = device.partition(":")[0]
    _check_device(torch, device, kind)
    if kind == "cpu" and (offload == "sequential" or (offload != "none" and not named)):
        raise ConfigError(
            f"offload={offload!r} takes parts of the model out of an accelerator's memory, and it runs on the CPU.",
            remedy="Leave offload out, or name an accelerator (device='cuda').",
        )
    name = dtype or _best_dtype(torch, kind)
    if kind == "mps" and name == "float64":
        raise ConfigError("MPS (Apple's GPU) cannot compute in float64.", remedy="Use dtype=float32 or bfloat16.")
    if kind == "cpu" and name == "float16":
        raise ConfigError(
            "float16 on a CPU is not computed by every layer, and slowly.", remedy="Use dtype=bfloat16 or float32."
        )
    if kind == "cuda" and name == "bfloat16" and not torch.cuda.is_bf16_supported():
        raise ConfigError("This GPU cannot compute in bfloat16.", remedy="Use dtype=float16.")
    return Hardware(device, getattr(torch, name))


def best_device(torch: Any) -> str:
    """The accelerator of this machine, else its CPU."""
    if torch.cuda.is_available():
        return "cuda"
    if hasattr(torch, "xpu") and torch.xpu.is_available():
        return "xpu"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _best_dtype(torch: Any, kind: str) -> str:
    if kind == "cuda":
        return "bfloat16" if torch.cuda.is_bf16_supported() else "float16"
    return "float32" if kind == "cpu" else "bfloat16"


def _check_device(torch: Any, device: str, kind: str) -> None:
    there = {
        "cpu": lambda: True,
        "cuda": torch.cuda.is_available,
        "mps": torch.backends.mps.is_available,
        "xpu": lambda: hasattr(torch, "xpu") and torch.xpu.is_available(),
    }.get(kind)
    if there is None:
        raise ConfigError(f"device={device!r} is unknown.", remedy="Use cuda, cuda:1, mps, xpu or cpu.")
    if not there():
        raise ConfigError(
            f"device={device!r} was asked for, and torch {torch.__version__} sees none.",
            remedy=f"Use device={best_device(torch)!r}, or install a torch built for it.",
        )
    number = device.partition(":")[2]
    if number and not (number.isdecimal() and (kind != "cuda" or int(number) < torch.cuda.device_count())):
        raise ConfigError(f"device={device!r} is not there.", remedy="Use a number that this machine has.")
    if kind == "cpu" and number:
        raise ConfigError(f"device={device!r} is unknown.", remedy="Use device='cpu'.")
