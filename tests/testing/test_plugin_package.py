"""A third party's package, installed as anybody's would be: found, listed, checked, and tried by its own tests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "plugin_package"
REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder the package was installed into, by pip, without a network."""
    folder = tmp_path_factory.mktemp("plugin")
    # A copy: building must leave nothing in the repository.
    source = Path(shutil.copytree(PACKAGE, folder / "source", ignore=shutil.ignore_patterns("__pycache__")))
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation",
               "--disable-pip-version-check", "--target", str(folder / "site"), str(source)]  # fmt: skip
    subprocess.run(command, check=True, timeout=110, cwd=folder)
    return folder / "site"


def called(site: Path, *words: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(REPOSITORY)])}
    return subprocess.run(
        [sys.executable, "-m", *words], capture_output=True, text=True, env=environment, timeout=110, check=False,
        cwd=folder,
    )  # fmt: skip


@pytest.mark.slow
def test_it_is_found_and_listed(site: Path) -> None:
    done = called(site, "langgraph_interleave.cli", "backends")
    assert done.returncode == 0, done.stderr
    [line] = [line for line in done.stdout.splitlines() if line.startswith("postcard")]
    assert "interleave-postcard" in line and "Draws picture postcards" in line
    assert "edits as told, up to 4 references" in done.stdout


@pytest.mark.slow
def test_it_is_checked_by_name(site: Path) -> None:
    done = called(site, "langgraph_interleave.cli", "check", "postcard:6", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["ok"] and report["fingerprint"] == "postcard/1.0/6"
    assert [one["item"] for one in report["findings"] if one["status"] == "not provable"] == ["provenance"]


@pytest.mark.slow
def test_its_own_tests_are_the_suite(site: Path, tmp_path: Path) -> None:
    shutil.copy(PACKAGE / "conformance_of_postcard.py", tmp_path / "test_postcard.py")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    done = called(site, "pytest", "-q", "-p", "no:cacheprovider", "-c", "pytest.ini", folder=tmp_path)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout and "failed" not in done.stdout
