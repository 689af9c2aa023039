"""The artifact store on memory, folders and fsspec filesystems."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from hypothesis import given
from hypothesis import strategies as st

from langgraph_interleave.artifacts import ArtifactStore, canonical_json, digest_of
from langgraph_interleave.errors import ArtifactMissing, ConfigError
from langgraph_interleave.files import FolderFiles
from langgraph_interleave.places import FsspecFiles
from langgraph_interleave.types import ArtifactRef, ImageBytes

KEY = "ab" * 32
OTHER = "cd" * 32
HELLO = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"


def _memory(path: Path) -> ArtifactStore:
    return ArtifactStore.memory()


def _folder(path: Path) -> ArtifactStore:
    return ArtifactStore.folder(path / "made" / "when needed")


def _url(path: Path) -> ArtifactStore:
    return ArtifactStore(path.as_uri(), "inside")


def _plain_path(path: Path) -> ArtifactStore:
    return ArtifactStore(str(path))


def _object_store(path: Path) -> ArtifactStore:
    return ArtifactStore(f"memory://{path.name}")


def _renaming(path: Path) -> ArtifactStore:
    return ArtifactStore(DirFileSystem(str(path), LocalFileSystem()), "root")


@pytest.fixture(params=[_memory, _folder, _url, _plain_path, _object_store, _renaming])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ArtifactStore:
    make: Callable[[Path], ArtifactStore] = request.param
    return make(tmp_path)


def test_what_was_put_can_be_read_back(store: ArtifactStore) -> None:
    ref = store.put(b"hello", mime="text/plain")
    assert ref == ArtifactRef(sha256=HELLO, mime="text/plain", size=5)
    assert store.get(ref) == store.get(ref.sha256) == store.get(ref.uri) == b"hello"
    assert store.has(ref)
    assert not store.has("0" * 64)


def test_equal_bytes_are_stored_once(store: ArtifactStore) -> None:
    assert store.put(b"x", mime="a/b") == store.put(b"x", mime="a/b")


def test_missing_bytes_are_named_with_a_remedy(store: ArtifactStore) -> None:
    with pytest.raises(ArtifactMissing, match="0{64} is not in the store.*Use the store"):
        store.get("0" * 64)


def test_pictures_keep_their_measures(store: ArtifactStore) -> None:
    image = ImageBytes(b"\x89PNG", "image/png", 4, 3)
    ref = store.put_image(image)
    assert (ref.width, ref.height, ref.mime) == (4, 3, "image/png")
    assert store.get_image(ref) == image


def test_what_is_no_picture_is_refused(store: ArtifactStore) -> None:
    with pytest.raises(ConfigError, match=r"text/plain\) is not a picture"):
        store.get_image(store.put(b"words", mime="text/plain"))


def test_json_has_one_digest_however_it_is_written(store: ArtifactStore) -> None:
    digest = store.put_json({"b": [1, None, "é"], "a": 2.5})
    assert digest == store.put_json({"a": 2.5, "b": [1, None, "é"]})
    assert store.get_json(digest) == {"a": 2.5, "b": [1, None, "é"]}


def test_what_is_no_json_is_refused(store: ArtifactStore) -> None:
    ref = store.put(b"\xff\x00", mime="application/octet-stream")
    with pytest.raises(ArtifactMissing, match="is not JSON"):
        store.get_json(ref)


def test_call_records(store: ArtifactStore) -> None:
    assert store.read_call("run-1", KEY) is None
    assert store.list_calls("run-1") == []
    store.write_call("run-1", KEY, {"key": KEY, "t_start": 2.0})
    store.write_call("run-1", OTHER, {"key": OTHER, "t_start": 1.0})
    store.write_call("run-2", KEY, {"key": "elsewhere"})
    assert store.read_call("run-1", KEY) == {"key": KEY, "t_start": 2.0}
    assert [record["key"] for record in store.list_calls("run-1")] == [OTHER, KEY], "in order of their start"
    store.write_call("run-1", KEY, {"key": KEY, "t_start": 0.0})
    assert [record["key"] for record in store.list_calls("run-1")] == [KEY, OTHER]


def test_a_record_is_swapped_only_when_unchanged(store: ArtifactStore) -> None:
    assert store.swap_call("run", KEY, None, {"n": 1})
    assert not store.swap_call("run", KEY, None, {"n": 2})
    assert not store.swap_call("run", KEY, {"n": 0}, {"n": 2})
    assert store.swap_call("run", KEY, {"n": 1}, {"n": 2})
    assert store.read_call("run", KEY) == {"n": 2}


def test_of_many_threads_one_swaps(store: ArtifactStore) -> None:
    won: list[int] = []
    start = threading.Barrier(8)

    def claim(number: int) -> None:
        start.wait()
        if store.swap_call("run", KEY, None, {"owner": number}):
            won.append(number)

    threads = [threading.Thread(target=claim, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert store.read_call("run", KEY) == {"owner": won[0]}


async def test_the_async_twins_do_the_same(store: ArtifactStore) -> None:
    ref = await store.aput(b"hello", mime="text/plain")
    assert await store.aget(ref) == b"hello"
    assert await store.ahas(ref)
    picture = await store.aput_image(ImageBytes(b"p", "image/png", 1, 1))
    assert (await store.aget_image(picture)).data == b"p"
    assert await store.aget_json(await store.aput_json([1, 2])) == [1, 2]
    await store.awrite_call("run", KEY, {"key": KEY})
    assert await store.aread_call("run", KEY) == {"key": KEY}
    assert await store.aswap_call("run", KEY, {"key": KEY}, {"key": "new"})
    assert await store.alist_calls("run") == [{"key": "new"}]
    with pytest.raises(ArtifactMissing):
        await store.aget("0" * 64)


async def test_reading_from_memory_needs_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_thread(*_: Any) -> None:
        raise AssertionError("a thread was asked for")

    monkeypatch.setattr(asyncio.get_running_loop(), "run_in_executor", no_thread)
    memory = ArtifactStore.memory()
    assert not memory.blocking
    assert await memory.aget(await memory.aput(b"x", mime="a/b")) == b"x"


async def test_a_disk_is_read_in_a_thread(tmp_path: Path) -> None:
    store = ArtifactStore.folder(tmp_path)
    assert store.blocking
    seen: list[str] = []

    class Watched(FolderFiles):
        def read(self, name: str) -> bytes | None:
            seen.append(threading.current_thread().name)
            return super().read(name)

    await ArtifactStore(Watched(tmp_path)).aput(b"x", mime="a/b")
    assert seen == ["interleave-store"]


def test_two_memory_stores_share_nothing() -> None:
    one, two = ArtifactStore.memory(), ArtifactStore.memory()
    ref = one.put(b"of one alone", mime="a/b")
    assert not two.has(ref)
    assert not any(ref.sha256 in name for name in MemoryFileSystem.store), "nor with fsspec's global memory"


def test_two_stores_of_one_folder_share_everything(tmp_path: Path) -> None:
    ref = ArtifactStore.folder(tmp_path).put(b"x", mime="a/b")
    assert ArtifactStore(tmp_path).get(ref) == b"x"
    assert (tmp_path / "artifacts" / ref.sha256[:2] / ref.sha256).read_bytes() == b"x"


def test_the_layout_is_as_documented(tmp_path: Path) -> None:
    store = ArtifactStore.folder(tmp_path)
    store.put(b"hello", mime="text/plain")
    store.write_call("run", KEY, {"b": 1, "a": "é"})
    assert (tmp_path / "artifacts" / "2c" / HELLO).read_bytes() == b"hello"
    assert (tmp_path / "calls" / "run" / f"{KEY}.json").read_text(encoding="utf-8") == '{"a":"é","b":1}'
    assert [path.name for path in tmp_path.rglob("*.tmp")] == []


def test_damaged_bytes_are_refused_and_mended(tmp_path: Path) -> None:
    store = ArtifactStore.folder(tmp_path)
    ref = store.put(b"hello", mime="text/plain")
    (tmp_path / "artifacts" / "2c" / HELLO).write_bytes(b"hell")
    with pytest.raises(ArtifactMissing, match=f"{HELLO}.*is damaged.*Restore the file"):
        store.get(ref)
    store.put(b"hello", mime="text/plain")
    assert store.get(ref) == b"hello"


def test_a_damaged_record_is_refused_and_left_out_of_lists(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = ArtifactStore.folder(tmp_path)
    store.write_call("run", KEY, {"key": KEY})
    store.write_call("run", OTHER, {"key": OTHER})
    (tmp_path / "calls" / "run" / f"{KEY}.json").write_bytes(b'{"key":')
    (tmp_path / "calls" / "run" / f"{'ef' * 32}.json").write_bytes(b"[1]")
    (tmp_path / "calls" / "run" / "notes.txt").write_bytes(b"someone's own")
    (tmp_path / "calls" / "run" / "README.json").write_bytes(b"{}")
    with pytest.raises(ArtifactMissing, match=f"call {KEY} of run .*is damaged"):
        store.read_call("run", KEY)
    with pytest.raises(ArtifactMissing):
        store.swap_call("run", KEY, None, {})
    with caplog.at_level(logging.WARNING):
        assert store.list_calls("run") == [{"key": OTHER}]
    assert len(caplog.records) == 2


def test_a_record_that_vanishes_while_it_is_listed_is_left_out(tmp_path: Path) -> None:
    class Vanishing(FolderFiles):
        def names(self, folder: str) -> list[str]:
            return [*super().names(folder), f"{OTHER}.json"]

    store = ArtifactStore(Vanishing(tmp_path))
    store.write_call("run", KEY, {"key": KEY})
    assert store.list_calls("run") == [{"key": KEY}]


@pytest.mark.parametrize("scope", ["", "..", ".hidden", "a/b", "../calls", "a\\b", "x" * 129, "a b", "ü", "run\n"])
def test_a_scope_cannot_leave_its_folder(scope: str) -> None:
    with pytest.raises(ConfigError, match="cannot name a folder"):
        ArtifactStore.memory().read_call(scope, KEY)


@pytest.mark.parametrize("key", ["", "abc", "AB" * 32, "../" + "a" * 20, "g" * 64, "a" * 129, "ab" * 32 + "\n"])
def test_a_key_is_hexadecimal(key: str) -> None:
    with pytest.raises(ConfigError, match="is not one"):
        ArtifactStore.memory().write_call("run", key, {})


@pytest.mark.parametrize("ref", ["", "abc", "artifact://x", "../../etc/passwd", "AB" * 32, HELLO + "\n"])
def test_a_reference_is_a_digest(ref: str) -> None:
    with pytest.raises(ConfigError, match="not a reference"):
        digest_of(ref)


def test_an_unknown_protocol_is_refused_with_a_remedy() -> None:
    with pytest.raises(ConfigError, match=r"No artifact store can be opened at 'nowhere://x'.*Install the package"):
        ArtifactStore("nowhere://x")


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = ArtifactStore.folder(tmp_path)
    store.put(b"first", mime="a/b")

    def full(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        store.put(b"second", mime="a/b")
    assert [path for path in tmp_path.rglob("*") if path.name.endswith(".tmp")] == []


def test_a_reader_never_sees_half_a_file(tmp_path: Path) -> None:
    files = FolderFiles(tmp_path)
    long, short = b"a" * 200_000, b"b" * 100_000
    files.write("f", short)
    done = threading.Event()
    seen: set[bytes | None] = set()

    def read() -> None:
        while not done.is_set():
            seen.add(files.read("f"))

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(50):
        files.write("f", long)
        files.write("f", short)
    done.set()
    reader.join()
    assert seen <= {long, short}


def test_other_processes_are_kept_apart_by_the_lock(tmp_path: Path) -> None:
    program = (
        "import sys; from langgraph_interleave.artifacts import ArtifactStore;"
        "store = ArtifactStore.folder(sys.argv[1]);"
        "print(sum(store.swap_call('run', f'{n:064x}', None, {'p': sys.argv[2]}) for n in range(200)))"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", program, str(tmp_path), name], stdout=subprocess.PIPE)
        for name in ("a", "b")
    ]
    won = [int(process.communicate()[0]) for process in processes]
    assert sum(won) == 200


def test_without_file_locks_threads_are_kept_apart_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    store = ArtifactStore.folder(tmp_path)
    assert store.swap_call("run", KEY, None, {"n": 1})
    assert not store.swap_call("run", KEY, None, {"n": 2})


def test_an_object_store_refuses_a_second_creation(monkeypatch: pytest.MonkeyPatch) -> None:
    class Racing(MemoryFileSystem):
        cachable = False

        def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **kwargs: Any) -> None:
            if mode == "create":
                raise FileExistsError(path)
            super().pipe_file(path, value, **kwargs)

    store = ArtifactStore(FsspecFiles(Racing(), "/racing"))
    assert not store.swap_call("run", KEY, None, {"n": 1})
    store.write_call("run", KEY, {"n": 2})
    assert store.read_call("run", KEY) == {"n": 2}, "an unconditional write is never refused"


def test_a_store_says_where_it_is(tmp_path: Path) -> None:
    assert repr(ArtifactStore.memory()) == "ArtifactStore(memory)"
    assert repr(ArtifactStore.folder(tmp_path)) == f"ArtifactStore({tmp_path})"
    assert repr(ArtifactStore("memory://here")) == "ArtifactStore(memory:///here)"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.nightly
@given(JSON)
def test_any_json_comes_back_as_it_was(value: Any) -> None:
    store = ArtifactStore.memory()
    assert store.get_json(store.put_json(value)) == value


def test_a_lone_surrogate_is_stored_as_valid_text() -> None:
    assert canonical_json({"a": "\ud83d"}).decode() == '{"a":"\\ud83d"}'


@pytest.mark.parametrize("value", [float("nan"), float("inf"), b"bytes", {1, 2}, {"a": object()}])
def test_what_json_has_no_form_for_is_refused(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        canonical_json(value)
