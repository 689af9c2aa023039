"""Pictures a second of one pipeline, with and without micro-batching, in one run: prints a table or JSON.

Eight requests that differ in words and seeds are made at the same moment, again and again, in turn with
batches and one by one. By default the model is a tiny FLUX.2 klein with random weights, built in code;
any other is named with `--model`.

    python benchmarks/batching.py --json
    python benchmarks/batching.py --model black-forest-labs/FLUX.2-klein-4B --size 1024
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import io
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops

from langgraph_interleave.backends.diffusers import DiffusersBackend
from langgraph_interleave.types import ImageBytes, ImageRequest


async def drawn(backend: DiffusersBackend, requests: list[ImageRequest]) -> tuple[float, list[ImageBytes]]:
    """Draw all requests at once; wall-clock seconds, and the pictures in order."""
    begun = time.perf_counter()
    results = await asyncio.gather(*(backend.agenerate(request) for request in requests))
    return time.perf_counter() - begun, [result.images[0] for result in results]


def difference(one: ImageBytes, other: ImageBytes) -> int:
    """The largest difference of two pictures, in grey levels."""
    a, b = (Image.open(io.BytesIO(image.data)).convert("RGB") for image in (one, other))
    bands: Any = ImageChops.difference(a, b).getextrema()
    return max(high for _, high in bands)


async def measure(source: Any, *, requests: int, size: int, rounds: int) -> dict[str, Any]:
    """Alternate both ways, `rounds` times each."""
    ways = {"batched": DiffusersBackend(source, batch=requests), "alone": DiffusersBackend(source, batch=False)}
    asked = [ImageRequest(f"thing {i}", seed=i, width=size, height=size) for i in range(requests)]
    pictures: dict[str, list[ImageBytes]] = {}
    for name, backend in ways.items():
        _, pictures[name] = await drawn(backend, asked)
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, backend in ways.items():
            taken, _ = await drawn(backend, asked)
            seconds[name].append(taken)
    rate = {name: requests / statistics.median(times) for name, times in seconds.items()}
    return {
        "requests": requests,
        "size": size,
        "rounds": rounds,
        "steps": ways["alone"].family.steps,
        "pictures_per_second": {name: round(value, 2) for name, value in rate.items()},
        "batched_over_alone": round(rate["batched"] / rate["alone"], 2),
        "largest_difference_in_grey_levels": max(map(difference, pictures["batched"], pictures["alone"])),
    }


def model(name: str | None) -> Any:
    """What is measured: a hub id or folder, or the tiny klein of the tests, on one thread."""
    if name is not None:
        return name
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))
    return str(importlib.import_module("tiny_pipelines").folder("klein"))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="hub id or folder; default: a tiny klein")
    parser.add_argument("--requests", type=int, default=8)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    figures = asyncio.run(measure(model(args.model), requests=args.requests, size=args.size, rounds=args.rounds))
    found: dict[str, Any] = {"model": args.model or "tiny klein", **figures}
    if args.json:
        print(json.dumps(found, indent=2))
        return
    print(f"{found['model']}, {args.requests} requests at once, {args.size}x{args.size}, {found['steps']} steps")
    for name, rate in found["pictures_per_second"].items():
        print(f"  {name:8} {rate:8.2f} pictures/s")
    print(f"  ratio    {found['batched_over_alone']:8.2f}")
    print(f"  pictures differ by {found['largest_difference_in_grey_levels']} grey levels at most")


if __name__ == "__main__":
    main()
