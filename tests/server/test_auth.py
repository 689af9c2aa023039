"""`langgraph.auth.json` as it is shipped: users are kept apart, their pictures as well."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_sync_client

pytestmark = pytest.mark.server
TOKENS = {"alice": "a-token-of-alice", "bob": "a-token-of-bob"}
ASKED: dict[str, Any] = {"messages": [{"role": "user", "content": "How to plant a bean, in 2 steps"}]}
SMALL: dict[str, Any] = {"seed": 7, "size": "64x64"}


@pytest.fixture(scope="module")
def guarded(boot: Any) -> Generator[str]:
    users = " ".join(f"{name}={token}" for name, token in TOKENS.items())
    with boot("langgraph.auth.json", INTERLEAVE_USERS=users) as url:
        yield url


@pytest.fixture(scope="module")
def clients(guarded: str) -> Generator[dict[str, Any]]:
    made = {name: get_sync_client(url=guarded, headers=header(name)) for name in TOKENS}
    yield made
    for client in made.values():
        client.close()


def header(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {TOKENS[name]}"}


def test_nobody_is_let_in_without_a_token_that_is_known(guarded: str) -> None:
    for headers in ({}, {"Authorization": "Bearer guess"}, {"Authorization": TOKENS["alice"]}):
        answer = httpx.post(f"{guarded}/threads", json={}, headers=headers, trust_env=False)
        assert answer.status_code == 401, headers


def test_threads_runs_and_links_are_their_owners(guarded: str, clients: dict[str, Any]) -> None:
    alice, bob = clients["alice"], clients["bob"]
    thread = alice.threads.create()["thread_id"]
    state = alice.runs.wait(thread, "illustrator", input=ASKED, context=SMALL)
    run = alice.runs.list(thread)[0]["run_id"]

    for trying in (
        lambda: bob.threads.get(thread),
        lambda: bob.threads.get_state(thread),
        lambda: bob.threads.get_history(thread),
        lambda: bob.threads.delete(thread),
        lambda: bob.runs.get(thread, run),
        lambda: bob.runs.cancel(thread, run),
        lambda: bob.runs.wait(thread, "illustrator", input=ASKED, context=SMALL),
    ):
        with pytest.raises(httpx.HTTPStatusError) as refused:
            trying()
        assert refused.value.response.status_code in (403, 404)
    assert bob.threads.search() == []
    assert [each["thread_id"] for each in alice.threads.search()] == [thread]

    [url, _] = [block["url"] for block in state["messages"][-1]["content"] if block["type"] == "image"]
    asking: dict[str, dict[str, str]] = {
        "alice": header("alice"),
        "alice's browser": {"Cookie": f"token={TOKENS['alice']}"},
        "bob": header("bob"),
        "nobody": {},
    }
    answers = {who: httpx.get(url, headers=headers, trust_env=False).status_code for who, headers in asking.items()}
    assert answers == {"alice": 200, "alice's browser": 200, "bob": 404, "nobody": 401}


def test_links_in_events_are_their_owners_as_well(clients: dict[str, Any]) -> None:
    given = {"request": "How to plant a bean, in 2 steps"}
    parts = list(clients["bob"].runs.stream(None, "interleave", input=given, context=SMALL, stream_mode="custom"))
    urls = [part.data["image"]["url"] for part in parts if part.event == "custom" and part.data.get("image")]
    assert urls
    for url in urls:
        assert httpx.get(url, headers=header("bob"), trust_env=False).status_code == 200
        assert httpx.get(url, headers=header("alice"), trust_env=False).status_code == 404


def test_assistants_are_everybodys_and_nobodys(clients: dict[str, Any]) -> None:
    bob = clients["bob"]
    found = bob.assistants.search()
    assert {one["graph_id"] for one in found} == {"interleave", "illustrator", "agent"}
    assert bob.assistants.get_schemas(found[0]["assistant_id"])["graph_id"] == found[0]["graph_id"]
    for trying in (
        lambda: bob.assistants.create("interleave", name="mine"),
        lambda: bob.assistants.delete(found[0]["assistant_id"]),
        lambda: bob.crons.create("interleave", schedule="0 0 * * *", input={"request": "x"}),
    ):
        with pytest.raises(httpx.HTTPStatusError) as refused:
            trying()
        assert refused.value.response.status_code == 403


def test_everybody_has_a_store_of_their_own(clients: dict[str, Any]) -> None:
    clients["alice"].store.put_item(["notes"], key="one", value={"text": "mine"})
    assert clients["alice"].store.get_item(["notes"], key="one")["value"] == {"text": "mine"}
    assert clients["bob"].store.search_items(["notes"])["items"] == []
    assert clients["bob"].store.search_items(["alice"])["items"] == []
