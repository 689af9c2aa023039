"""A process that is killed while it writes leaves no half file that can be read, whatever it was at."""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.garbage import collect_garbage

WRITER = """
import random, sys
from langgraph_interleave.artifacts import ArtifactStore
store, rng = ArtifactStore.folder(sys.argv[1]), random.Random(int(sys.argv[2]))
print("started", flush=True)
for number in range(100_000):
    data = rng.randbytes(rng.choice([10, 5_000, 400_000]))
    ref = store.put(data, mime="image/png")
    store.write_call("run", f"{number % 40:016x}", {"key": f"{number % 40:016x}", "of": ref.sha256, "pad": "x" * 3000})
    if number % 3 == 0:
        store.put(data, mime="image/png")
"""


def killed(folder: Path, seed: int, after_s: float) -> None:
    child = subprocess.Popen([sys.executable, "-c", WRITER, str(folder), str(seed)], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None and child.stdout.readline() == "started\n"
        time.sleep(after_s)
    finally:
        child.kill()
        child.communicate()


@pytest.mark.parametrize("kills", [1, pytest.param(30, marks=pytest.mark.slow)])
def test_killed_at_any_moment_nothing_half_written_can_be_read(tmp_path: Path, kills: int) -> None:
    rng, halves = random.Random(7), 0
    for seed in range(kills):
        killed(tmp_path, seed, rng.random() * 0.25)
        store = ArtifactStore.folder(tmp_path)
        files = [path for path in (tmp_path / "artifacts").rglob("*") if path.is_file() and path.name[0] != "."]
        for path in files:
            assert hashlib.sha256(path.read_bytes()).hexdigest() == path.name
        records = store.list_calls("run")
        assert len(records) == len(list((tmp_path / "calls" / "run").glob("[0-9a-f]*.json"))), "every one can be read"
        # The artifact was stored first: what a record names is there.
        assert all(store.has(record["of"]) for record in records)
        half = list(tmp_path.rglob(".*.tmp"))
        halves += len(half)
        done = collect_garbage(store, grace_s=0, dry_run=False)
        assert done.halves == len(half) and not list(tmp_path.rglob(".*.tmp")), "leftovers are cleared away"
        assert all(store.get(record["of"]) for record in store.list_calls("run"))
    assert kills < 30 or halves > 0, "it was killed in the middle of a write at least once"
