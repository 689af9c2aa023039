"""Where a server keeps its artifacts, as its environment says."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from langgraph_interleave.errors import ConfigError
from langgraph_interleave.serving.place import place_from
from langgraph_interleave.testing import noise_card

DIGEST = "ab" * 32


def test_without_anything_it_is_a_folder_whose_links_outlive_the_process(tmp_path: Path) -> None:
    first, second = place_from({}, tmp_path / "here"), place_from({}, tmp_path / "here")
    ref = first.artifacts.put_image(noise_card("a leaf"))
    assert second.artifacts.has(ref)
    assert first.artifacts.link(ref) == second.artifacts.link(ref)
    assert first.artifacts.link(ref).startswith(f"/artifacts/{ref.sha256}?")
    kept = tmp_path / "here" / "link-secret"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert len(kept.read_text()) == 64
    assert [path.name for path in (tmp_path / "here").iterdir() if path.name.startswith(".")] == []


def test_processes_that_start_at_once_agree_on_a_secret(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        places = list(pool.map(lambda _: place_from({}, tmp_path / "here"), range(64)))
    assert len({place.artifacts.link(DIGEST).partition("sig=")[2] for place in places}) == 1


def test_a_filesystem_without_hard_links_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr("os.link", refuse)
    first, second = place_from({}, tmp_path / "here"), place_from({}, tmp_path / "here")
    assert first.artifacts.link(DIGEST) == second.artifacts.link(DIGEST)
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["link-secret"]


def test_a_secret_of_ones_own_is_not_written_down(tmp_path: Path) -> None:
    place_from({"INTERLEAVE_LINK_SECRET": "a secret of enough bytes"}, tmp_path / "here")
    assert not (tmp_path / "here").exists()


def test_a_folder_or_an_address_of_ones_own(tmp_path: Path) -> None:
    named = place_from({"INTERLEAVE_ARTIFACTS": str(tmp_path / "named")}, tmp_path / "here")
    assert str(tmp_path / "named") in repr(named.artifacts)
    bucket = place_from({"INTERLEAVE_ARTIFACTS": "memory://pictures"}, tmp_path / "here")
    ref = bucket.artifacts.put_image(noise_card("a leaf"))
    other = place_from({"INTERLEAVE_ARTIFACTS": "memory://pictures"}, tmp_path / "here")
    assert other.artifacts.has(ref)
    # Nothing is kept beside a bucket, so each process has its own secret, unless it is given one.
    assert bucket.artifacts.link(ref) != other.artifacts.link(ref)
    assert not (tmp_path / "here").exists()


@pytest.mark.parametrize(
    ("environ", "start"),
    [
        ({"INTERLEAVE_PUBLIC_URL": "https://lg.example.org/x/"}, "https://lg.example.org/x/artifacts/"),
        ({"LANGGRAPH_API_URL": "http://127.0.0.1:2024"}, "http://127.0.0.1:2024/artifacts/"),
        ({"LANGGRAPH_API_URL": "http://0.0.0.0:2024/lg"}, "http://127.0.0.1:2024/lg/artifacts/"),
        ({"LANGGRAPH_API_URL": "http://[::]:2024"}, "http://[::1]:2024/artifacts/"),
        (
            {"LANGGRAPH_API_URL": "http://127.0.0.1:2024", "INTERLEAVE_PUBLIC_URL": "https://lg.example.org"},
            "https://lg.example.org/artifacts/",
        ),
    ],
)
def test_links_lead_to_where_the_server_is(environ: dict[str, str], start: str, tmp_path: Path) -> None:
    assert place_from(environ, tmp_path).artifacts.link(DIGEST).startswith(start)


def test_how_long_links_hold(tmp_path: Path) -> None:
    place = place_from({"INTERLEAVE_LINK_DAYS": "0.5"}, tmp_path)
    expires = place.artifacts.link(DIGEST).partition("exp=")[2].partition("&")[0]
    assert 12 * 3600 - 5 <= place.links.left(expires) <= 13.5 * 3600
    with pytest.raises(ConfigError, match="not a number"):
        place_from({"INTERLEAVE_LINK_DAYS": "a week"}, tmp_path)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="INTERLEAVE_ARTIFACTS"):
        place_from({}, tmp_path / "file" / "here")


def test_a_file_of_the_secret_that_is_empty_is_named(tmp_path: Path) -> None:
    (tmp_path / "link-secret").touch()
    with pytest.raises(ConfigError, match="link-secret.*is empty"):
        place_from({}, tmp_path)


def test_a_file_of_the_secret_may_hold_any_bytes(tmp_path: Path) -> None:
    (tmp_path / "link-secret").write_bytes(bytes(range(128, 160)))
    links = [place_from({}, tmp_path).links for _ in range(2)]
    query = parse_qs(urlsplit(links[0].url("ab" * 32)).query)
    assert links[1].check("ab" * 32, query["exp"][0], query["sig"][0]) == "good"


def test_a_server_that_says_nonsense_of_itself_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is not the address of a server"):
        place_from({"LANGGRAPH_API_URL": "http://["}, tmp_path)


def test_outside_a_run_links_are_for_nobody_in_particular(tmp_path: Path) -> None:
    bound = place_from({"INTERLEAVE_BIND_LINKS": "1", "INTERLEAVE_LINK_SECRET": "x" * 16}, tmp_path)
    plain = place_from({"INTERLEAVE_LINK_SECRET": "x" * 16}, tmp_path)
    assert bound.artifacts.link(DIGEST) == plain.artifacts.link(DIGEST)
