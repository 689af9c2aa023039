"""What is recorded of a call, and the key it goes by (rules 9 and 10)."""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.budget import Budget
from langgraph_interleave.errors import (
    ArtifactMissing,
    CallTimeout,
    ConfigError,
    ContentBlocked,
    InternalError,
    LimitReached,
    NoImage,
    QuotaExhausted,
    RateLimited,
)
from langgraph_interleave.ledger import CallRecord, Ledger, Produced, call_key
from langgraph_interleave.ledger.records import ending_of, problem_of
from langgraph_interleave.limits import Limits
from langgraph_interleave.types.usage import Usage

# -- 10: keys --------------------------------------------------------------------------------------

PARTS: dict[str, Any] = {
    "scope": "run",
    "role": "backend",
    "fingerprint": "model-1",
    "step": 2,
    "attempt": 0,
    "candidate": 0,
    "template": "1",
    "params": {"prompt": "a pot", "seed": 7},
    "digests": ["a" * 64, "b" * 64],
}


def key(**changed: Any) -> str:
    return call_key(**{**PARTS, **changed})


def test_rule_10_the_same_question_has_the_same_key() -> None:
    turned = dict(reversed(PARTS.items()))
    assert key() == call_key(**turned) == key(params={"seed": 7, "prompt": "a pot"})
    assert len(key()) == 64
    assert int(key(), 16)


def test_rule_10_the_key_of_a_question_does_not_change_between_versions() -> None:
    # A stored run must be found again: whoever changes this makes everybody pay a second time.
    assert key() == "88f7b19d9a37f837afa64009c9757fac5a75e693e30010871fdc4925261299a1"


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("scope", "another"),
        ("role", "critic"),
        ("fingerprint", "model-2"),
        ("step", 3),
        ("step", None),
        ("attempt", 1),
        ("candidate", 1),
        ("template", "2"),
        ("params", {"prompt": "a pot", "seed": 8}),
        ("digests", ["b" * 64, "a" * 64]),
        ("digests", ["a" * 64]),
    ],
)
def test_rule_10_any_other_question_has_another_key(part: str, value: Any) -> None:
    assert key() != key(**{part: value})


def test_rule_10_further_parts_count_and_are_not_confused_with_others() -> None:
    keys = {
        key(),
        key(size=[1, 2]),
        key(size=[2, 1]),
        key(params=PARTS["params"] | {"size": [1, 2]}),
    }
    assert len(keys) == 4


@pytest.mark.parametrize("name", ["task_id", "time", "callbacks", "config", "thread_id", "checkpoint_id"])
def test_rule_10_what_changes_on_replay_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=f"must not contain {name}.*Leave out"):
        key(**{name: "x"})
    with pytest.raises(ConfigError, match=name):
        key(params={name: "x"})


@pytest.mark.parametrize("value", [b"bytes", object(), {1}, float("nan")])
def test_rule_10_parts_are_json(value: object) -> None:
    with pytest.raises(ConfigError, match="cannot be made"):
        key(extra=value)


@given(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=4))
def test_rule_10_the_order_of_names_is_no_part_of_the_question(params: dict[str, Any]) -> None:
    turned = dict(reversed(params.items()))
    if not {"time", "config", "owner"} & set(params):
        assert key(params=params) == key(params=turned)


# -- records ---------------------------------------------------------------------------------------


async def test_a_record_says_everything_about_its_call(tmp_path: Path, maker: Any, call: Any) -> None:
    store = ArtifactStore.folder(tmp_path)
    asked = call(step=3, attempt=1, candidate=2, billed=True, images=1)
    await Ledger(store).run(asked, maker(ready=True, usage=Usage(images=1, cost_usd=0.04)))
    (path,) = (tmp_path / "calls" / "run").glob("*.json")
    assert path.stem == asked.key
    data = json.loads(path.read_bytes())
    for name in ("owner", "lease_until", "t_start", "t_end"):
        assert data.pop(name)
    assert data == {
        "v": 1,
        "scope": "run",
        "key": asked.key,
        "role": "backend",
        "step": 3,
        "attempt": 1,
        "candidate": 2,
        "billed": True,
        "images": 1,
        "status": "finished",
        "usage": {
            "input_tokens": 0,
            "output_tokens": 0,
            "cached_tokens": 0,
            "images": 1,
            "calls": 0,
            "image_input_tokens": 0,
            "image_output_tokens": 0,
            "cost_usd": 0.04,
        },
        "result": {"number": 1},
        "ambiguous_before": 0,
        "failed": [],
    }


async def test_the_record_is_started_before_the_call_and_finished_after_it(call: Any) -> None:
    store = ArtifactStore.memory()
    seen: list[Any] = []

    async def make() -> Produced:
        seen.append(store.read_call("run", call().key))
        return Produced({"text": None, "n": [1]})

    finished = await Ledger(store).run(call(), make)
    assert seen[0]["status"] == "started"
    assert "result" not in seen[0]
    record = store.read_call("run", call().key)
    assert record is not None
    assert record["status"] == "finished"
    assert CallRecord.model_validate(record) == finished.record
    assert record["result"] == {"text": None, "n": [1]}, "nulls of a result are its own"


async def test_pictures_not_reported_are_recorded_as_asked_for(ledger: Ledger, maker: Any, call: Any) -> None:
    finished = await ledger.run(call(images=2), maker(ready=True))
    assert finished.usage.images == 2


async def test_a_large_result_is_stored_beside_the_record(tmp_path: Path, call: Any) -> None:
    store = ArtifactStore.folder(tmp_path)
    large = {"reasoning": "word " * 20_000, "none": None}

    async def make() -> Produced:
        return Produced(large)

    assert (await Ledger(store).run(call(), make)).result == large
    (path,) = (tmp_path / "calls" / "run").glob("*.json")
    assert path.stat().st_size < 4_000
    again = Ledger(store)
    finished = await again.run(call(), make)
    assert finished.replayed
    assert finished.result == large
    assert (await again.records("run"))[0].result == large


async def test_when_a_large_result_is_lost_the_call_is_made_again_and_says_so(
    tmp_path: Path, call: Any, caplog: pytest.LogCaptureFixture
) -> None:
    store = ArtifactStore.folder(tmp_path)

    async def make() -> Produced:
        return Produced({"reasoning": "word " * 2_000})

    first = await Ledger(store).run(call(), make)
    assert first.record.result_ref is not None
    digest = first.record.result_ref
    (tmp_path / "artifacts" / digest[:2] / digest).unlink()
    assert [record.result for record in await Ledger(store).records("run")] == [None], "what it used, it has used"
    with caplog.at_level(logging.WARNING):
        second = await Ledger(store).run(call(), make)
    assert not second.replayed
    assert digest in caplog.text and "is made again" in caplog.text


@pytest.mark.parametrize("harm", ["gone", "damaged"])
async def test_a_paid_call_whose_picture_is_lost_is_made_again_only_where_that_is_allowed(
    tmp_path: Path, call: Any, harm: str
) -> None:
    store, made = ArtifactStore.folder(tmp_path), 0

    async def make() -> Produced:
        nonlocal made
        made += 1
        ref = await store.aput(b"picture %d" % made, mime="image/png", width=1, height=1)
        return Produced({"image": ref.model_dump(mode="json")}, Usage(images=1, cost_usd=0.04))

    paid = call(billed=True, step=3)
    first = await Ledger(store).run(paid, make)
    digest = first.result["image"]["sha256"]
    lost = tmp_path / "artifacts" / digest[:2] / digest
    if harm == "gone":
        lost.unlink()
    else:
        lost.write_bytes(b"pictur")
    for _ in range(2):
        with pytest.raises(
            ArtifactMissing, match=rf"backend made \(step index 3, attempt 0\) is lost: .*{digest}"
        ) as caught:
            await Ledger(store).run(paid, make)
        assert "redraw_missing=True" in caught.value.remedy
    assert made == 1
    again = await Ledger(store).run(replace(paid, remake=True), make)
    assert (made, again.replayed, again.took_over) == (2, False, None)
    assert (await Ledger(store).run(paid, make)).replayed
    # Both were paid for, whoever counts later.
    budget = Budget(Limits())
    await Ledger(store).scope("run", budget).resume()
    spend = budget.spend()
    assert (spend.calls, spend.images, spend.cost_usd, spend.ambiguous) == ({"backend": 2}, 2, 0.08, 0)


async def test_a_record_of_a_newer_release_is_never_paid_again(tmp_path: Path, maker: Any, call: Any) -> None:
    store, paid = ArtifactStore.folder(tmp_path), call(billed=True)
    make = maker(ready=True)
    await Ledger(store).run(paid, make)
    record = store.read_call("run", paid.key)
    assert record is not None
    for newer in ({**record, "v": record["v"] + 1}, {**record, "tenant": "a field of a later release"}):
        store.write_call("run", paid.key, newer)
        with pytest.raises(ConfigError, match=f"call {paid.key[:12]}.* newer release.*pip install -U"):
            await Ledger(store).run(paid, make)
        with pytest.raises(ConfigError, match="newer release"):
            await Ledger(store).scope("run", Budget(Limits())).resume()
        assert store.read_call("run", paid.key) == newer, "and it is left as it is"
    assert make.calls == 1


@pytest.mark.parametrize("content", [b"", b'{"v": 1', b"[]", b'{"v": 1, "status": "finished"}', b"\xff"])
async def test_a_damaged_record_is_an_ambiguous_call(tmp_path: Path, maker: Any, call: Any, content: bytes) -> None:
    store = ArtifactStore.folder(tmp_path)
    store.write_call("run", call().key, {})
    (tmp_path / "calls" / "run" / f"{call().key}.json").write_bytes(content)
    ledger = Ledger(store)
    finished = await ledger.run(call(), maker(ready=True))
    assert finished.took_over is not None
    assert finished.took_over.status == "ambiguous"
    assert [record.status for record in await ledger.records("run")] == ["finished"]


@pytest.mark.parametrize("result", [{"image": b"bytes"}, {"when": object()}, {"n": float("nan")}])
async def test_a_result_that_is_no_json_is_a_fault_of_ours(ledger: Ledger, call: Any, result: Any) -> None:
    async def make() -> Produced:
        return Produced(result)

    with pytest.raises(InternalError, match=r"result of a backend call is no JSON.*Store bytes as artifacts"):
        await ledger.run(call(), make)
    record = (await ledger.records("run"))[0]
    assert record.status == "failed"
    assert record.result is None


async def test_what_was_paid_for_is_delivered_though_it_cannot_be_recorded(
    maker: Any, call: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ledger = Ledger(ArtifactStore.memory())

    swap = ledger.artifacts.aswap_call

    async def full(scope: str, key: str, expected: Any, record: Any) -> bool:
        if record["status"] == "finished":
            raise OSError(28, "No space left on device")
        return await swap(scope, key, expected, record)

    monkeypatch.setattr(ledger.artifacts, "aswap_call", full)
    assert (await ledger.run(call(), maker(ready=True))).result == {"number": 1}
    assert "could not be recorded" in caplog.text


async def test_the_end_of_a_failed_call_that_cannot_be_recorded_harms_nobody(
    maker: Any, call: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ledger = Ledger(ArtifactStore.memory())
    make = maker(error=NoImage("no"))
    waiter = asyncio.create_task(ledger.run(call(), make))
    await asyncio.to_thread(make.started.wait, 3)

    async def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ledger.artifacts, "aswap_call", full)
    make.let_go()
    with pytest.raises(NoImage):
        await waiter
    assert "could not be recorded" in caplog.text


async def test_nothing_is_spent_when_the_store_cannot_be_written(
    maker: Any, call: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(ArtifactStore.memory())

    async def denied(*_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(ledger.artifacts, "aswap_call", denied)
    make = maker(ready=True)
    with pytest.raises(ConfigError, match=r"cannot be written.*Permission denied.*Free some space"):
        await ledger.run(call(), make)
    monkeypatch.setattr(ledger.artifacts, "aread_call", denied)
    with pytest.raises(ConfigError, match=r"cannot be read.*Permission denied"):
        await ledger.run(call(), make)
    assert make.calls == 0


async def test_a_scope_that_cannot_name_a_folder_is_refused(ledger: Ledger, maker: Any, call: Any) -> None:
    with pytest.raises(ConfigError, match="cannot name a folder"):
        await ledger.run(call(scope="../elsewhere"), maker(ready=True))


# -- problems --------------------------------------------------------------------------------------


def test_an_error_is_recorded_by_class_message_and_remedy() -> None:
    problem = problem_of(ContentBlocked("The prompt was refused.", remedy="Say it differently."))
    assert (problem.error, problem.message, problem.remedy) == (
        "ContentBlocked",
        "The prompt was refused.",
        "Say it differently.",
    )


@pytest.mark.parametrize(
    "text",
    [
        "https://host/v1?api_key=SECRET12345&x=1",
        "Authorization: Bearer SECRET12345",
        '{"api-key": "SECRET12345"}',
        "token=SECRET12345",
        "password: SECRET12345",
        "https://bucket/x?X-Amz-Signature=SECRET12345",
        "key sk-SECRET12345 is invalid",
        "hf_SECRET12345",
        "sk-proj-SECRET12345",
    ],
)
def test_what_looks_like_a_secret_is_not_recorded(text: str) -> None:
    assert "SECRET12345" not in problem_of(RuntimeError(text)).message


@pytest.mark.parametrize(
    "text",
    ["The key is missing.", "No monkey was drawn.", "Invalid size 512x512 for model sketch-1.", "task failed: skipped"],
)
def test_ordinary_words_are_recorded_as_they_are(text: str) -> None:
    assert problem_of(RuntimeError(text)).message == text


def test_a_long_message_is_shortened() -> None:
    assert len(problem_of(RuntimeError("word " * 1000)).message) == 500


@pytest.mark.parametrize(
    ("error", "billed", "ending"),
    [
        (RateLimited("x"), True, "released"),
        (QuotaExhausted("x"), True, "released"),
        (ArtifactMissing("x"), True, "released"),
        (LimitReached("max_calls", used=1, cap=1), True, "released"),
        (CallTimeout("x"), True, "ambiguous"),
        (CallTimeout("x"), False, "failed"),
        (CallTimeout("x", ambiguous=False), True, "failed"),
        (OSError("x"), True, "ambiguous"),
        (OSError("x"), False, "failed"),
    ],
)
def test_what_an_error_says_about_its_call(error: Exception, billed: bool, ending: str) -> None:
    assert ending_of(error, billed=billed) == ending


def test_a_call_that_is_not_over_has_no_duration() -> None:
    record = CallRecord(scope="s", key="k", role="critic", status="started", t_start=5.0)
    assert record.seconds is None
    assert record.model_copy(update={"t_end": 7.5}).seconds == 2.5
