"""Every test runs offline, with a clean environment, and the same way twice."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Before anything of a model library is imported. Two workers with as many threads as cores wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["LANGSMITH_TRACING"] = "false"

settings.register_profile(
    "default",
    derandomize=True,
    deadline=None,
    max_examples=40,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("ci", parent=settings.get_profile("default"), max_examples=100)
settings.register_profile("thorough", parent=settings.get_profile("default"), derandomize=False, max_examples=2000)
settings.register_profile("nightly", parent=settings.get_profile("default"), derandomize=False, max_examples=10_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

#: Chromium talks to nobody but the page.
_SWITCHES = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
GOLDEN = Path(__file__).parent / "golden"

#: What a developer's shell may hold and no test may see.
_PREFIXES = (
    "ANTHROPIC_",
    "AZURE_OPENAI_",
    "GEMINI_",
    "GOOGLE_",
    "HF_TOKEN",
    "INTERLEAVE_",
    "LANGCHAIN_",
    "LANGGRAPH_",
    "LANGSMITH_",
    "OPENAI_",
)
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


#: Seconds a property test may take with the examples of a whole night.
_NIGHTLY_S = 3600


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("HYPOTHESIS_PROFILE") != "nightly":
        return
    for item in items:
        if item.get_closest_marker("nightly") is not None:
            item.add_marker(pytest.mark.timeout(_NIGHTLY_S))


@pytest.fixture(autouse=True)
def quick_resends(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is sent again is sent again at once."""
    monkeypatch.setattr("langgraph_interleave.ledger.resend.FIRST_PAUSE_S", 0.002)


@pytest.fixture(scope="session", autouse=True)
def nobodys_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Fixtures that live longer than one test keep their runs in no user's folder, either."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INTERLEAVE_HOME", str(tmp_path_factory.getbasetemp() / "home"))
        yield


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No keys, no proxies, no tracing; home and caches are empty folders."""
    for name in list(os.environ):
        if name.upper().startswith(_PREFIXES) or name.lower() in _PROXIES:
            monkeypatch.delenv(name)
    home = str(tmp_path_factory.getbasetemp())
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, home)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    # Rich and typer look at these to decide on width and colour.
    for name in ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "TERM", "CI", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files anew instead of comparing")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with a file under `tests/golden`, or write it with `--update-golden`."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden", default=False):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8"), f"{name} changed; run with --update-golden if that is meant"

    return compare


@pytest.fixture(scope="session")
def loopback_server() -> Iterator[Any]:
    from loopback import serving

    with serving() as server:
        yield server


@pytest.fixture
def loopback(loopback_server: Any) -> Iterator[Any]:
    """A server that speaks the OpenAI API, fresh for each test; nothing it was sent broke the API's own rules."""
    loopback_server.reset()
    yield loopback_server
    assert loopback_server.violations == []


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Connection string of a PostgreSQL server of this session. Without PostgreSQL it fails: no test is skipped."""
    from postgres_server import postgres_server

    with postgres_server() as dsn:
        yield dsn


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        # Without a browser of the system, the one that Playwright brought along.
        opened = playwright.chromium.launch(executable_path=found, args=_SWITCHES)
        yield opened
        opened.close()


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open a page; it must not report anything to the console, nor ask for anything but itself."""
    contexts: list[Any] = []
    said: list[str] = []

    def open_page(path: Path, *, width: int = 1200, scheme: str = "light") -> Any:
        context = browser.new_context(viewport={"width": width, "height": 740}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on(
            "request", lambda request: said.extend([] if request.url.startswith(("file:", "data:")) else [request.url])
        )
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []
