"""`langgraph dev` as people start it, once for all tests, with the repository's own configuration."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_sync_client

REPOSITORY = Path(__file__).resolve().parents[2]
_BOOT_S = 60.0
#: What a developer's shell may hold and no server here may see.
_PREFIXES = ("ANTHROPIC_", "GOOGLE_", "INTERLEAVE_", "LANGCHAIN_", "LANGGRAPH_", "LANGSMITH_", "OPENAI_")

#: The graphs of `served`.
SERVED = ("slow", "parallel", "noted", "billed", "left")

Boot = Callable[..., AbstractContextManager[str]]


@pytest.fixture(scope="session")
def boot(tmp_path_factory: pytest.TempPathFactory) -> Boot:
    """Starts a `langgraph dev` on a free loopback port, in a copy of what it needs; yields its address."""

    @contextlib.contextmanager
    def booting(
        config: str = "langgraph.json",
        *,
        graphs: dict[str, str] | None = None,
        folder: Path | None = None,
        **environment: str,
    ) -> Generator[str]:
        folder = folder or tmp_path_factory.mktemp("server")
        if not (folder / "graphs").exists():
            for name in ("graphs", "examples"):
                shutil.copytree(REPOSITORY / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.png"))
            shutil.copy(Path(__file__).with_name("served.py"), folder)
        settings = json.loads((REPOSITORY / config).read_text(encoding="utf-8"))
        settings["graphs"] |= graphs or {}
        (folder / config).write_text(json.dumps(settings), encoding="utf-8")
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        command = [
            str(Path(sys.executable).with_name("langgraph")), "dev", "--config", config, "--no-browser", "--no-reload",
            "--host", "127.0.0.1", "--port", str(port), "--n-jobs-per-worker", "4",
        ]  # fmt: skip
        kept = {name: value for name, value in os.environ.items() if not name.upper().startswith(_PREFIXES)}
        own = {"LANGGRAPH_CLI_NO_ANALYTICS": "1", "LANGSMITH_TRACING": "false", "LANGGRAPH_NO_VERSION_CHECK": "1"}
        log = (folder / "log.txt").open("a", encoding="utf-8")
        with subprocess.Popen(command, cwd=folder, env=kept | own | environment, stdout=log, stderr=log) as process:
            try:
                _wait(f"http://127.0.0.1:{port}", process, folder / "log.txt")
                yield f"http://127.0.0.1:{port}"
            finally:
                process.terminate()
                try:
                    process.wait(timeout=10)
                except subprocess.TimeoutExpired:
                    process.kill()
                log.close()

    return booting


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _BOOT_S
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text(encoding="utf-8")[-3000:]
        try:
            if httpx.get(f"{url}/ok", timeout=5, trust_env=False).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    raise AssertionError(f"no answer within {_BOOT_S} s: {log.read_text(encoding='utf-8')[-3000:]}")


@pytest.fixture(scope="session")
def address(boot: Boot) -> Generator[str]:
    """The server most tests share: the repository's graphs, and the scripted ones of `served`."""
    with boot(graphs={name: f"./served.py:{name}" for name in SERVED}) as url:
        yield url


@pytest.fixture(scope="session")
def sdk(address: str) -> Generator[Any]:
    """The SDK's client for it; `Any`, because its signatures take no plain dicts."""
    client = get_sync_client(url=address)
    yield client
    client.close()


@pytest.fixture(scope="session")
def server(address: str) -> Generator[httpx.Client]:
    """A bare HTTP client for it."""
    with httpx.Client(base_url=address, timeout=60, trust_env=False) as client:
        yield client


@pytest.fixture(scope="session")
def assistants(sdk: Any) -> dict[str, dict[str, Any]]:
    """The assistants by the name of their graph."""
    found: Any = sdk.assistants.search(limit=100)
    return {one["graph_id"]: one for one in found if one["metadata"].get("created_by") == "system"}


@pytest.fixture
def thread(sdk: Any) -> str:
    """A new thread."""
    return sdk.threads.create()["thread_id"]
