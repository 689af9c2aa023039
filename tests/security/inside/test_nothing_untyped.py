"""Whatever comes from outside, there is an answer or a documented error: events, names of the store, addresses."""

from __future__ import annotations

import contextlib
import json
import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_interleave import events
from langgraph_interleave.artifacts import ArtifactStore, digest_of
from langgraph_interleave.errors import ArtifactMissing, ConfigError
from langgraph_interleave.segments import read_event
from langgraph_interleave.splitter import Splitter
from langgraph_interleave.urls import is_public, origin_of

pytestmark = pytest.mark.nightly

leaves = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20)
    | st.sampled_from(["segment", "start", "delta", "finish", "answer", "reasoning", "image", "r", "-1", 1 << 70])
)  # fmt: skip
anything = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=5),
    max_leaves=12,
)  # fmt: skip

KINDS = {
    "interleave.segment": events.SegmentEvent, "interleave.run": events.RunEvent, "interleave.step": events.StepEvent,
    "interleave.attempt": events.AttemptEvent, "interleave.limit": events.LimitEvent,
    "interleave.warning": events.WarningEvent,
}  # fmt: skip


@st.composite
def of_ours(draw: st.DrawFn) -> dict[str, Any]:
    """What says it is an event of ours, with its fields, some of them right."""
    kind = draw(st.sampled_from([*KINDS, "interleave.", "interleave.other"]))
    names = [*KINDS.get(kind, events.SegmentEvent).model_fields]
    right = {"run_id": "r", "v": 1, "t": 0.5, "segment_id": "r:0:0:image:0", "step": 0, "attempt": 0, "seq": 0,
             "track": "answer", "kind": "image", "phase": "finish", "limit": "max_images", "used": 1, "cap": 1,
             "code": "x", "message": "x"}  # fmt: skip
    given = {name: right[name] for name in names if name in right}
    wrong = draw(st.dictionaries(st.sampled_from(names) | st.text(max_size=6), anything, max_size=4))
    return {**given, **wrong, "type": kind}


@given(anything | of_ours())
def test_any_object_is_an_event_or_refused(value: Any) -> None:
    with contextlib.suppress(ValueError):  # pydantic's own is one of these too, but it is never let through
        event = events.from_dict(value)
        if event is not None:
            again = events.from_dict(events.to_dict(event))
            assert repr(again) == repr(event), "by its words: NaN is not equal to itself"
    for part in (value, {"type": "custom", "ns": (), "data": value}, ((), value), ((), "custom", value)):
        with contextlib.suppress(ValueError):
            read_event(part)


@given(of_ours())
def test_an_event_comes_back_from_json(value: Any) -> None:
    try:
        event = events.from_dict(value)
    except ValueError:
        return
    assert event is not None
    text = json.dumps(events.to_dict(event))
    assert json.dumps(events.to_dict(events.from_dict(json.loads(text)))) == text  # type: ignore[arg-type]


names = (
    st.text(st.characters(), max_size=40)
    | st.text("abcdef0123456789./\\%~: -_\x00\n", max_size=140)
    | st.sampled_from(["..", "../x", "a/../../b", "/etc/passwd", "C:\\x", "%2e%2e%2f", "~", "con", ".", "a\x00b", ""])
    | st.text("0123456789abcdef", min_size=64, max_size=64)
)


@given(names, names)
def test_no_name_leaves_the_store(tmp_path_factory: pytest.TempPathFactory, scope: str, key: str) -> None:
    outside: Path = tmp_path_factory.getbasetemp() / "store-of-names"
    store = ArtifactStore.folder(outside / "store")
    for name in (scope, key, f"artifact://{scope}"):
        with contextlib.suppress(ConfigError):
            assert set(digest_of(name)) <= set(string.hexdigits)
        for read in (store.get, store.get_json, store.has):
            with contextlib.suppress(ConfigError, ArtifactMissing):
                read(name)
    with contextlib.suppress(ConfigError):
        store.write_call(scope, key, {"a": 1})
        assert store.read_call(scope, key) == {"a": 1}
        assert {"a": 1} in store.list_calls(scope)
    if outside.exists():
        assert {path.name for path in outside.iterdir()} == {"store"}
        assert {path.name for path in (outside / "store").iterdir()} <= {"calls", "artifacts"}


hosts = st.sampled_from(
    ["127.0.0.1", "127.1", "2130706433", "0x7f.1", "[::1]", "[::ffff:7f00:1]", "localhost", "a.example", "１２７.0.0.1",
     "xn--", "ⓔxample", "a..b", "-", "a_b", "[", "[]", "[::1%25lo]", "example.org."]
)  # fmt: skip
addresses = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["http://", "https://", "HTTP://", "file://", "//", "ftp://", "http:/", "", "javascript:"]),
        st.sampled_from(["", "u@", "u:p@", "@", "%40"]),
        hosts,
        st.sampled_from(["", ":", ":0", ":80", ":99999", ":x", ":-1", ":٣"]),
        st.text(st.characters(), max_size=10),
    ),
)


@given(addresses | st.text(st.characters(), max_size=40))
def test_any_address_is_judged_without_an_error(address: str) -> None:
    origin = origin_of(address)
    if origin is not None:
        scheme, host, port = origin
        assert scheme in ("http", "https") and host and 0 < port < 65536
        assert "@" not in host and not any(one.isspace() or ord(one) < 32 for one in address)
        assert isinstance(is_public(host), bool)


blocks = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "text", "reasoning", "thinking", "summary", "index", "content"]), inner, max_size=4
        )
    ),
    max_leaves=8,
)


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["type", "text", "reasoning", "thinking", "summary", "index", "content"]),
            blocks | st.sampled_from(["text", "reasoning", "thinking"]),
        ),
        max_size=4,
    ),
    st.dictionaries(st.sampled_from(["reasoning_content", "reasoning"]), blocks, max_size=2),
)
def test_any_content_blocks_are_split(content: list[Any], extra: dict[str, Any]) -> None:
    splitter = Splitter()
    splitter.feed_blocks(content, extra)
    splitter.finish()
