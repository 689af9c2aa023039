"""How long importing takes, in fresh processes, as ratios: prints JSON.

The package against what it stands on (`langgraph.graph`, `langchain_core.messages`), and the bare
import against Python's own start. Each number is the median of alternating runs.

    python benchmarks/import_time.py --runs 15
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time

CASES = {
    "python": "pass",
    "bare": "import langgraph_interleave",
    "base": "import langgraph.graph, langchain_core.messages",
    "graph": "from langgraph_interleave import create_interleave_graph",
}
HEAVY = ("torch", "diffusers", "transformers", "openai")


def seconds(code: str) -> float:
    """Wall-clock seconds of one fresh process."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    for code in CASES.values():
        seconds(code)  # compiled files and disk caches
    taken: dict[str, list[float]] = {name: [] for name in CASES}
    for _ in range(runs):
        for name, code in CASES.items():
            taken[name].append(seconds(code))
    median = {name: statistics.median(times) for name, times in taken.items()}
    loaded = subprocess.run(
        [sys.executable, "-c", f"{CASES['graph']}; import sys; print([m for m in {HEAVY!r} if m in sys.modules])"],
        check=True,
        capture_output=True,
        text=True,
    )
    result = {
        "runs": runs,
        "seconds": {name: round(value, 3) for name, value in median.items()},
        "graph_over_base": round(median["graph"] / median["base"], 3),
        "graph_over_base_without_start": round(
            (median["graph"] - median["python"]) / (median["base"] - median["python"]), 3
        ),
        "bare_over_python_s": round(median["bare"] - median["python"], 3),
        "heavy_modules_loaded": loaded.stdout.strip(),
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
