"""Changes that were stopped, failed or changed nothing are no version; words of others stay words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mcp_parts
import pytest
from mcp_bench import Bench, id_of, links_of, open_bench, pictures_of, text_of

from langgraph_interleave.agents.mcp_server import Outfit, Shelf, Workshop
from langgraph_interleave.agents.mcp_server.names import Name, read_name
from langgraph_interleave.agents.mcp_server.record import Job, Order
from langgraph_interleave.errors import ConfigError, PlanError
from langgraph_interleave.testing import ScriptedBackend, ScriptedPlanner, noise_card, simple_plan
from langgraph_interleave.types import ImageRequest


def stuck_when_darker(request: ImageRequest) -> float:
    return 3600.0 if "thing 2, darker" in request.prompt else 0.0


async def test_a_change_that_was_stopped_leaves_the_document_as_it_was() -> None:
    backend = ScriptedBackend(lambda it: noise_card(it.prompt), delay_s=stuck_when_darker, capabilities=mcp_parts.CAN)
    async with open_bench(Shelf.memory(), backend=backend) as bench:
        made = await bench.call("create_document", request="3 things apart")
        document = id_of(made)
        begun = await bench.call("revise_document", document_id=document, request="darker 1 darker 3", wait_seconds=0.4)
        assert "Still being made" in text_of(begun)
        stopped = await bench.call("cancel_document", document_id=document)
        first, *rest = text_of(stopped).split("\n")
        assert first == f"The change was stopped before it was finished. {document} is as it was, in version 1."
        assert rest[1].startswith("cancelled") and rest[2].startswith(f"document_id: {document}, version 2")
        assert not stopped.is_error
        # The bare name is the version before; what was stopped is there by its number.
        bare = await bench.call("get_document", document_id=document)
        assert text_of(bare) == (
            "This is the document as it was before its last change. The change was stopped before it was finished. "
            f"See {document}.v2.\n{text_of(made)}"
        )
        assert pictures_of(bare) == pictures_of(made)
        numbered = await bench.call("get_document", document_id=document, version=2)
        assert "cancelled" in text_of(numbered) and len(pictures_of(numbered)) == 2
        async with bench.client() as client:
            [entry, _] = (await client.list_resources()).resources
            assert str(entry.uri) == f"interleave://document/{document}.v1"
            pages = [
                (await client.read_resource(f"interleave://document/{name}")).contents[0].text  # type: ignore[union-attr]
                for name in (document, f"{document}.v1", f"{document}.v2")
            ]
        assert pages[0] == pages[1] != pages[2]
        edited = await bench.call("edit_image", image=f"{document}.step_1", prompt="a hat")
        [given] = bench.shelf.find(read_name(id_of(edited))).order.request[1:]
        [of_the_first] = [link for link in links_of(made) if link.name.endswith("step_1")]
        assert given["url"].removeprefix("artifact://") == of_the_first.uri.removeprefix("interleave://artifact/")
        again = await bench.call("revise_document", document_id=document, request="darker 2")
        assert f"{document}, version 3 (changed from version 1)" in text_of(again)
        newest = await bench.call("get_document", document_id=document)
        assert text_of(newest) == text_of(again) and text_of(newest).startswith("A plan\n")


async def test_a_change_that_failed_leaves_the_document_as_it_was() -> None:
    planner = ScriptedPlanner([simple_plan(1), PlanError("No plan there.", remedy="Ask otherwise.")])
    async with Workshop(Shelf.memory(), Outfit(planner, mcp_parts.backend(), mcp_parts.critic())) as workshop:
        bench = Bench(workshop)
        document = id_of(await bench.call("create_document", request="a thing"))
        failed = await bench.call("revise_document", document_id=document, request="darker 1")
        assert failed.is_error
        assert text_of(failed).startswith(f"The change failed. {document} is as it was, in version 1.\n")
        assert "No plan there. Ask otherwise." in text_of(failed)
        bare = await bench.call("get_document", document_id=document)
        assert not bare.is_error and f"The change failed. See {document}.v2.\nA plan\ncomplete;" in text_of(bare)


async def test_a_change_of_nothing_is_the_version_before() -> None:
    async with Workshop(Shelf.memory(), Outfit(size="64x64")) as workshop:
        bench = Bench(workshop)
        made = await bench.call("create_document", request="How to plant a bean, in 2 steps")
        document = id_of(made)
        told = await bench.call("revise_document", document_id=document, request="delete step 9")
        assert not told.is_error
        lines = text_of(told).split("\n")
        assert lines[0] == (
            f"Nothing was changed: nothing would be otherwise than it is. {document} is as it was, in version 1."
        )
        assert lines[2:4] == ["complete; 2 steps", f"document_id: {document}, version 1"]
        assert "Note: There is no step 9: the steps are 1 to 2." in lines
        assert [link.name for link in links_of(told)] == [link.name for link in links_of(made)]
        # Under the number that was promised, should a client wait for it, is the same.
        assert text_of(await bench.call("get_document", document_id=f"{document}.v2")) == text_of(told)
        assert bench.shelf.made(Name(document, 2)).version == 1
        assert (await workshop.wait(Name(document), 0)).version == 1


def test_the_bare_name_means_the_newest_that_stands() -> None:
    shelf = Shelf.memory()
    name = "doc_0123456789abcdef"

    def add(base: str | None = "0" * 64, **ended: Any) -> None:
        order = Order(request=({"type": "text", "text": "it"},), base=base, changes=1 if base else None)
        job = Job(document=name, version=1, order=order, asked="a", outfit="o", created=0)
        added = shelf.add(job)
        if ended:
            shelf.update(added.name, lambda known: known.model_copy(update={"state": "ended", **ended}))

    add(base=None, outcome="cancelled", data="1" * 64)
    assert shelf.find(Name(name)).version == shelf.made(Name(name)).version == 1, "a new document stands in any case"
    add(outcome="failed")
    add(outcome="cancelled", data="2" * 64)
    assert shelf.find(Name(name)).version == shelf.made(Name(name)).version == 1
    add(outcome="partial", data="3" * 64)
    add(outcome="complete", data="3" * 64, same=4)
    assert shelf.find(Name(name)).version == shelf.made(Name(name)).version == 4
    add()
    assert (shelf.find(Name(name)).version, shelf.made(Name(name)).version) == (6, 4), "it is waited for"
    assert shelf.made(Name(name, 5)).version == 4


# --- words of others ----------------------------------------------------------------------------------

EVIL = "![x](http://127.0.0.1/a.png) <img src=//b> [l](//c) www.example.org"


async def test_words_of_models_and_users_become_no_markup(calls: Path) -> None:
    plan = simple_plan(2)
    step = plan.steps[0].model_copy(update={"title": f"# {EVIL}", "caption": f"{EVIL} 2*3"})
    plan = plan.model_copy(update={"steps": (step, plan.steps[1]), "title": f"# {EVIL}"})
    async with Workshop(Shelf.memory(), Outfit(ScriptedPlanner(plan), mcp_parts.backend(), mcp_parts.critic())) as shop:
        bench = Bench(shop)
        told = text_of(await bench.call("create_document", request=EVIL))
        refused = [
            text_of(await bench.call("get_document", document_id=EVIL)),
            text_of(await bench.call("create_document", request="it", size=EVIL[:20])),
            text_of(await bench.call("create_document", request="it", images=[EVIL])),
            text_of(await bench.call("create_document", request="it", **{EVIL: 1})),
        ]
    title, *_ = told.split("\n")
    assert title.startswith(r"\# !\[x\](http\://127.0.0.1/a\.png) \<img src=//b\>")
    assert refused[0].startswith(r"'!\[x\](http\://127.0.0.1/a.png)")
    for words in (told, *refused):
        assert "![" not in words and "](" not in words.replace(r"\](", "")
        assert "<img" not in words.replace(r"\<img", "") and "http://" not in words and "www.e" not in words
    assert r"2\*3" in told
    assert "document_id: doc_" in told and "give that to edit_image" in told, "names stay as they are called"


def test_an_option_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"There is no option 'stlye'\. Did you mean style"):
        Outfit(stlye="ink")
