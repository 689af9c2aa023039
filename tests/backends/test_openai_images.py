"""The backend `openai`, over HTTP with the real SDK against the loopback server."""

from __future__ import annotations

import asyncio
import tomllib
import traceback
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import openai
import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st
from loopback import LoopbackServer, serving
from loopback_replies import (
    Failure,
    Hang,
    Pictures,
    Raw,
    Reply,
    Reset,
    bad_request,
    billing_hard_limit,
    content_policy_violation,
    error_in_200,
    html,
    insufficient_quota,
    moderation_blocked,
    no_data,
    no_such_model,
    picture_of,
    rate_limited,
    server_error,
    wrong_key,
)

from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.backends.openai_images import DEFAULT_MODEL, OpenAIImagesBackend
from langgraph_interleave.backends.openai_sizes import snapped, wanted_size
from langgraph_interleave.errors import (
    BadResponse,
    CallError,
    CallTimeout,
    ConfigError,
    ContentBlocked,
    InvalidRequest,
    NoImage,
    QuotaExhausted,
    RateLimited,
    Unavailable,
)
from langgraph_interleave.ledger.records import ending_of, problem_of
from langgraph_interleave.prices import Prices
from langgraph_interleave.registry import group
from langgraph_interleave.types import ImageBytes, ImageRequest, Usage

SECRET = "sk-proj-abcdefghijklmnop0123456789"
RED_BALL = ImageRequest(prompt="a red ball", width=64, height=64)


def reference(name: str, width: int = 32, height: int = 32) -> ImageBytes:
    return ImageBytes(picture_of(name, width, height), "image/png", width, height)


@pytest.fixture(scope="module")
def running() -> Iterator[LoopbackServer]:
    with serving(key=SECRET) as server:
        yield server


@pytest.fixture
def server(running: LoopbackServer) -> LoopbackServer:
    running.reset()
    running.allowed = frozenset()
    running.models = None
    return running


# One loop and one client for the module: reading certificates takes longer than a request.
@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def drawing(running: LoopbackServer) -> AsyncIterator[OpenAIImagesBackend]:
    backend = OpenAIImagesBackend(api_key=SECRET, base_url=running.base_url)
    yield backend
    await backend.aclose()


@pytest.fixture
def backend(drawing: OpenAIImagesBackend, server: LoopbackServer) -> OpenAIImagesBackend:
    assert server.requests == []
    return drawing


@pytest.mark.server
@pytest.mark.asyncio(loop_scope="module")
class TestDrawing:
    async def test_generate(self, backend: OpenAIImagesBackend, server: LoopbackServer) -> None:
        result = await backend.agenerate(replace(RED_BALL, n=2, seed=7))
        assert [image.data for image in result.images] == [picture_of("a red ball", 64, 64, index=i) for i in range(2)]
        assert (result.images[0].mime, result.images[0].width, result.images[0].seed) == ("image/png", 64, None)
        [request] = server.requests
        assert request.body == {"model": DEFAULT_MODEL, "prompt": "a red ball", "n": 2, "size": "64x64"}
        assert request.headers["authorization"] == f"Bearer {SECRET}"
        assert result.warnings == () and result.model == f"openai:{DEFAULT_MODEL}"
        assert server.violations == []

    @pytest.mark.parametrize("count", [1, 3])
    async def test_edit_sends_its_references_in_order(
        self, backend: OpenAIImagesBackend, server: LoopbackServer, count: int
    ) -> None:
        references = [reference(f"r{i}", 32 + 16 * i) for i in range(count)]
        result = await backend.agenerate(replace(RED_BALL, references=references, width=48))
        [request] = server.on("edits")
        assert [file.data for file in request.files] == [image.data for image in references]
        assert [file.name for file in request.files] == [f"ref{i}.png" for i in range(count)]
        assert {file.mime for file in request.files} == {"image/png"}
        assert {file.field for file in request.files} == {"image" if count == 1 else "image[]"}
        assert result.images[0].width == 48 and request.body["size"] == "48x64"
        assert server.violations == [] and server.counts["generations"].requests == 0

    async def test_options_go_where_they_are_taken(self, server: LoopbackServer) -> None:
        server.allowed = frozenset({"steps"})
        backend = OpenAIImagesBackend(
            "gpt-image-1.5", api_key=SECRET, base_url=server.base_url, quality="low", background="opaque",
            output_format="webp", output_compression=80, moderation="low", input_fidelity="high",
            extra_body={"steps": 4},
        )  # fmt: skip
        await backend.agenerate(RED_BALL)
        await backend.agenerate(replace(RED_BALL, references=[reference("r")], extra={"steps": 8}))
        await backend.aclose()
        generated, edited = (request.body for request in server.requests)
        assert generated["moderation"] == "low" and "input_fidelity" not in generated and generated["steps"] == 4
        assert edited["input_fidelity"] == "high" and "moderation" not in edited and edited["steps"] == "8"
        for body in (generated, edited):
            assert (body["quality"], body["background"], body["output_format"]) == ("low", "opaque", "webp")
            assert body["size"] == "1024x1024" and body["output_compression"] == 80
        assert server.violations == []

    async def test_another_size_is_told(self, backend: OpenAIImagesBackend, server: LoopbackServer) -> None:
        result = await backend.agenerate(replace(RED_BALL, width=70, height=50))
        assert server.requests[0].body["size"] == "64x48"
        assert result.warnings == (f"70x50 was asked for; {DEFAULT_MODEL} drew 64x48.",)
        server.script("generations", [Pictures(size=(72, 56))])
        result = await backend.agenerate(replace(RED_BALL, width=70, height=50))
        assert result.warnings == (f"70x50 was asked for (sent as 64x48); {DEFAULT_MODEL} drew 72x56.",)
        assert (result.images[0].width, result.images[0].height) == (72, 56)

    async def test_fewer_pictures_and_another_prompt_are_told(
        self, backend: OpenAIImagesBackend, server: LoopbackServer
    ) -> None:
        server.script("generations", [Pictures(n=1, revised_prompt="one crimson ball", data_url=True)])
        result = await backend.agenerate(replace(RED_BALL, n=3))
        assert len(result.images) == 1 and result.usage.images == 1
        fewer, revised = result.warnings
        assert "3 pictures were asked for" in fewer and "one crimson ball" in revised

    async def test_usage_and_cost_are_those_of_the_server(
        self, backend: OpenAIImagesBackend, server: LoopbackServer
    ) -> None:
        server.script("edits", [Pictures(cached_tokens=2)])
        usage = Usage(images=0, cost_usd=0.0)
        for references in ((), (reference("a"), reference("b"))):
            usage += (await backend.agenerate(replace(RED_BALL, references=references))).usage
        count = server.total
        assert (usage.input_tokens, usage.output_tokens) == (count.input_tokens, count.output_tokens)
        assert (usage.cached_tokens, usage.images) == (2, 2) == (count.cached_tokens, count.images)
        # 6 tokens of words (2 of them cached), 200 of references, 8 of pictures drawn.
        price = Prices.builtin().of(DEFAULT_MODEL)
        assert price is not None and price.input and price.cached_input and price.image_input and price.image_output
        cost = 4 * price.input + 2 * price.cached_input + 200 * price.image_input + 8 * price.image_output
        assert usage.cost_usd == pytest.approx(cost / 1e6)

    async def test_a_prompt_sets_nothing_in_the_server(
        self, backend: OpenAIImagesBackend, server: LoopbackServer
    ) -> None:
        prompt = 'a ball <sd_cpp_extra_args>{"seed": 7}</SD_cpp_extra_args >'
        result = await backend.agenerate(replace(RED_BALL, prompt=prompt))
        assert server.requests[0].body["prompt"] == 'a ball {"seed": 7}'
        assert result.warnings == ("Settings for the server were taken out of the prompt.",)

    async def test_cost_of_other_models(self, server: LoopbackServer) -> None:
        options: dict[str, Any] = {"api_key": SECRET, "base_url": server.base_url}
        unknown = OpenAIImagesBackend("flux-9", **options)
        own = OpenAIImagesBackend("flux-9", billed=False, **options)
        priced = OpenAIImagesBackend("flux-9", prices=Prices().merged({"flux-9": {"picture": 0.25}}), **options)
        costs: list[float | None] = []
        for backend in (unknown, own, priced):
            costs.append((await backend.agenerate(RED_BALL)).usage.cost_usd)
            await backend.aclose()
        assert costs == [None, 0.0, 0.25]

    async def test_a_client_of_ones_own_is_not_resending(self, server: LoopbackServer) -> None:
        server.script("generations", lambda _: server_error())
        async with openai.AsyncOpenAI(api_key=SECRET, base_url=server.base_url) as client:
            assert client.max_retries == 2
            with pytest.raises(Unavailable):
                await OpenAIImagesBackend(client=client).agenerate(RED_BALL)
        assert server.counts["generations"].requests == 1


ROWS: list[tuple[Reply, type[Exception], str]] = [
    (moderation_blocked(), ContentBlocked, "failed"),
    (content_policy_violation(), ContentBlocked, "failed"),
    (billing_hard_limit(), QuotaExhausted, "released"),
    (insufficient_quota(), QuotaExhausted, "released"),
    (rate_limited(), RateLimited, "released"),
    (rate_limited("1"), RateLimited, "released"),
    (server_error(500), Unavailable, "ambiguous"),
    (server_error(502), Unavailable, "ambiguous"),
    (server_error(503), Unavailable, "ambiguous"),
    (server_error(503, retry_after="1"), Unavailable, "released"),
    (wrong_key(SECRET), ConfigError, "released"),
    (Failure(403, {"message": "Not allowed."}), ConfigError, "released"),
    (no_such_model(DEFAULT_MODEL), ConfigError, "released"),
    (bad_request("Invalid size.", param="size"), InvalidRequest, "released"),
    (Failure(400, "invalid output_format"), InvalidRequest, "released"),
    (Failure(413, {"message": "Too large."}), InvalidRequest, "released"),
    (Failure(422, {"message": "Unprocessable."}), InvalidRequest, "released"),
    (html(), BadResponse, "ambiguous"),
    (Raw("fine", "text/plain"), BadResponse, "ambiguous"),
    (Raw('{"created": 1, "da'), BadResponse, "ambiguous"),
    (error_in_200(), BadResponse, "ambiguous"),
    (error_in_200(code=429), RateLimited, "released"),
    (error_in_200(code="moderation_blocked"), ContentBlocked, "failed"),
    (no_data("[]"), NoImage, "failed"),
    (no_data("null"), NoImage, "failed"),
    (Raw("{}"), NoImage, "failed"),
    (Raw("[]"), BadResponse, "ambiguous"),
    (Raw('{"data": [{"b64_json": "!!"}]}'), BadResponse, "ambiguous"),
    (Raw('{"data": [{"url": "https://example.org/a.png"}]}'), BadResponse, "ambiguous"),
    (Raw('{"data": [{}]}'), BadResponse, "ambiguous"),
    (Pictures(images=[picture_of("x", 64, 64)[:-40]]), BadResponse, "ambiguous"),
    (Pictures(images=[b"<html>no</html>"]), BadResponse, "ambiguous"),
    (Reset(), Unavailable, "ambiguous"),
    (Hang(), CallTimeout, "ambiguous"),
]


@pytest.mark.server
@pytest.mark.asyncio(loop_scope="module")
class TestFailing:
    @pytest.mark.parametrize(
        ("reply", "kind", "ending"), ROWS, ids=[f"{index}-{row[1].__name__}" for index, row in enumerate(ROWS)]
    )
    @pytest.mark.parametrize("references", [0, 2])
    async def test_each_failure_is_one_request_and_one_error(
        self,
        backend: OpenAIImagesBackend,
        server: LoopbackServer,
        reply: Reply,
        kind: type[Exception],
        ending: str,
        references: int,
    ) -> None:
        route = "edits" if references else "generations"
        server.script(route, lambda _: reply)
        request = replace(
            RED_BALL,
            references=[reference(str(index)) for index in range(references)],
            timeout_s=1 if isinstance(reply, Hang) else 5,
        )
        with pytest.raises(kind) as caught:
            await backend.agenerate(request)
        error = caught.value
        assert type(error) is kind
        assert server.total.requests == server.counts[route].requests == 1
        assert ending_of(error, billed=True) == ending
        assert server.violations == []
        problem = problem_of(error)
        assert len(problem.message) <= 500 and problem.remedy
        shown = "".join(traceback.format_exception(error)) + f"{error!r}{error}{vars(error)}{problem}{backend!r}"
        assert SECRET not in shown
        if isinstance(error, CallError):
            assert error.role == "backend"

    async def test_details(self, backend: OpenAIImagesBackend, server: LoopbackServer) -> None:
        server.script(
            "generations", [rate_limited("3"), rate_limited(headers={"retry-after-ms": "40"}), moderation_blocked()]
        )
        with pytest.raises(RateLimited) as limited:
            await backend.agenerate(RED_BALL)
        assert limited.value.retry_after == 3.0
        with pytest.raises(RateLimited) as limited:
            await backend.agenerate(RED_BALL)
        assert limited.value.retry_after == 0.04
        with pytest.raises(ContentBlocked) as blocked:
            await backend.agenerate(RED_BALL)
        assert blocked.value.detail["categories"] == ["violence"] and blocked.value.detail["stage"] == "input"

    async def test_what_a_useless_answer_cost_is_told(
        self, backend: OpenAIImagesBackend, server: LoopbackServer
    ) -> None:
        server.script("generations", [Pictures(images=[b"broken"])])
        with pytest.raises(BadResponse) as caught:
            await backend.agenerate(RED_BALL)
        usage = caught.value.usage
        assert usage is not None and usage.output_tokens == server.total.output_tokens > 0
        assert usage.cost_usd is not None and usage.cost_usd > 0

    async def test_nobody_answers(self) -> None:
        with serving() as gone:
            address = gone.base_url
        backend = OpenAIImagesBackend(api_key=SECRET, base_url=address)
        with pytest.raises(Unavailable) as caught:
            await backend.agenerate(RED_BALL)
        assert not caught.value.ambiguous and "127.0.0.1" in caught.value.message
        with pytest.raises(Unavailable):
            await backend.aready()
        await backend.aclose()

    async def test_cancelling_closes_the_request(self, backend: OpenAIImagesBackend, server: LoopbackServer) -> None:
        server.script("generations", [Hang()])
        task = asyncio.create_task(backend.agenerate(RED_BALL))
        assert await asyncio.to_thread(server.arrived)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.requests[0].abandoned.wait, 2)
        # The next one draws on the same client.
        assert (await backend.agenerate(RED_BALL)).images

    @pytest.mark.parametrize(
        "wrong",
        [
            {"n": 0},
            {"n": 11},
            {"prompt": " "},
            {"prompt": "x" * 32_001},
            {"width": 0},
            {"seed": -1},
            {"references": [reference("r")] * 17},
            {"references": [ImageBytes(b"GIF89a", "image/gif", 1, 1)]},
        ],
    )
    async def test_what_cannot_be_drawn_is_not_sent(
        self, backend: OpenAIImagesBackend, server: LoopbackServer, wrong: dict[str, Any]
    ) -> None:
        with pytest.raises(InvalidRequest):
            await backend.agenerate(replace(RED_BALL, **wrong))
        assert server.requests == []

    async def test_calls_at_once_and_on_another_loop(
        self, backend: OpenAIImagesBackend, server: LoopbackServer
    ) -> None:
        prompts = [f"ball {index}" for index in range(8)]
        results = await asyncio.gather(*(backend.agenerate(replace(RED_BALL, prompt=prompt)) for prompt in prompts))
        assert [result.images[0].data for result in results] == [picture_of(prompt, 64, 64) for prompt in prompts]

        async def elsewhere() -> int:
            try:
                return len((await backend.agenerate(RED_BALL)).images)
            finally:
                await backend.aclose()

        assert await asyncio.to_thread(asyncio.run, elsewhere()) == 1
        assert (await backend.agenerate(RED_BALL)).images
        assert server.total.answered == 10


@pytest.mark.server
@pytest.mark.asyncio(loop_scope="module")
class TestReady:
    async def test_a_good_key_costs_one_free_request(
        self, backend: OpenAIImagesBackend, server: LoopbackServer
    ) -> None:
        await backend.aready()
        assert [request.path for request in server.requests] == [f"/v1/models/{DEFAULT_MODEL}"]

    async def test_a_wrong_key_is_one_line_that_names_the_variable(self, server: LoopbackServer) -> None:
        backend = OpenAIImagesBackend(api_key="sk-wrong-1234567", base_url=server.base_url)
        with pytest.raises(ConfigError) as caught:
            await backend.aready()
        await backend.aclose()
        assert "refused the key" in str(caught.value) and "OPENAI_API_KEY" in str(caught.value)
        assert "sk-wrong" not in "".join(traceback.format_exception(caught.value)) and "\n" not in str(caught.value)

    @pytest.mark.parametrize("reply", [no_such_model("x"), Raw("Not found", "text/plain", 404), Failure(405, "no")])
    async def test_compatible_servers_need_not_tell_of_models(
        self, backend: OpenAIImagesBackend, server: LoopbackServer, reply: Reply
    ) -> None:
        server.script("models", [reply])
        await backend.aready()
        assert server.counts["models"].requests == server.total.requests == 1

    async def test_a_key_for_pictures_alone_is_a_good_key(
        self, backend: OpenAIImagesBackend, server: LoopbackServer
    ) -> None:
        words = "You have insufficient permissions for this operation. Missing scopes: api.model.read."
        server.script("models", [Failure(403, {"message": words})])
        await backend.aready()
        assert server.counts["models"].requests == server.total.requests == 1

    @pytest.mark.parametrize(
        ("reply", "kind"),
        [(html(), ConfigError), (Failure(403, {"message": "Country not supported"}), ConfigError),
         (server_error(503), Unavailable), (Reset(), Unavailable)],
    )  # fmt: skip
    async def test_anything_else_is_told(
        self, backend: OpenAIImagesBackend, server: LoopbackServer, reply: Reply, kind: type[Exception]
    ) -> None:
        server.script("models", [reply])
        with pytest.raises(kind):
            await backend.aready()


class TestMaking:
    def test_it_is_declared(self) -> None:
        declared = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
        value = declared["project"]["entry-points"][group("backend")]["openai"]
        assert EntryPoint("openai", value, group("backend")).load() is OpenAIImagesBackend

    def test_it_is_a_backend(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", SECRET)
        backend = OpenAIImagesBackend()
        assert isinstance(backend, ImageBackend)
        can = backend.capabilities
        assert (can.edit, can.max_references, can.seed, can.billed) == ("instruct", 16, "ignored", True)
        assert backend.model == DEFAULT_MODEL
        assert SECRET not in repr(backend) + backend.fingerprint

    def test_no_key_is_told_before_anything_is_spent(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
        with pytest.raises(ConfigError, match="OPENAI_API_KEY is not set"):
            OpenAIImagesBackend()
        assert OpenAIImagesBackend(base_url="http://127.0.0.1:1/v1")

    @pytest.mark.parametrize("key", ["sk-abc\ndef", "sk-äbc", "“sk-abc”"])
    def test_a_key_that_cannot_be_sent(self, key: str) -> None:
        with pytest.raises(ConfigError) as caught:
            OpenAIImagesBackend(api_key=key)
        assert "abc" not in str(caught.value)

    def test_a_client_that_cannot_be_awaited(self) -> None:
        client: Any = openai.OpenAI(api_key=SECRET)
        with client, pytest.raises(ConfigError, match="AsyncOpenAI"):
            OpenAIImagesBackend(client=client)

    @pytest.mark.parametrize("model", ["gpt-image-1", "dall-e-3"])
    def test_models_that_are_gone(self, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
        with pytest.raises(ConfigError, match="shut"):
            OpenAIImagesBackend(model, api_key=SECRET)
        assert OpenAIImagesBackend(model, base_url="http://127.0.0.1:1/v1").model == model

    def test_a_name_with_options(self) -> None:
        made = OpenAIImagesBackend.from_string(
            "org/flux?base_url=http://127.0.0.1:8000/v1&quality=low&billed=no&max_references=1&concurrency=2"
        )
        can = made.capabilities
        assert made.model == "org/flux" and not can.billed and can.max_references == 1 and can.concurrency == 2
        assert "127.0.0.1:8000" in made.fingerprint
        assert OpenAIImagesBackend.from_string("?base_url=http://127.0.0.1:1/v1").model == DEFAULT_MODEL

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("m?sise=1", "quality"),
            (f"m?api_key={SECRET}", "OPENAI_API_KEY"),
            ("m?quality=finest", "xhigh"),
            ("m?billed=perhaps", "yes or no"),
            ("m?concurrency=-1", "whole number"),
            ("m?max_references=17", "0 to 16"),
            ("m?base_url=ftp://x", "http://"),
            ("m?base_url=127.0.0.1:80", "http://"),
            ("m?output_format=svg", "webp"),
            ("m?output_format=jpeg&background=transparent", "png"),
        ],
    )
    def test_a_wrong_option_is_one_line_that_names_what_is_right(self, text: str, words: str) -> None:
        with pytest.raises(ConfigError) as caught:
            OpenAIImagesBackend.from_string(text, api_key=SECRET)
        assert words in str(caught.value) and SECRET not in str(caught.value)

    def test_whatever_changes_the_picture_changes_the_fingerprint(self) -> None:
        def fingerprint(model: str = "m", **options: Any) -> str:
            given: dict[str, Any] = {"base_url": "http://a/v1", "api_key": SECRET, **options}
            return OpenAIImagesBackend(model, **given).fingerprint

        different = [
            fingerprint(), fingerprint("n"), fingerprint(base_url="http://b/v1"), fingerprint(quality="low"),
            fingerprint(output_format="webp"), fingerprint(extra_body={"seed": 1}), fingerprint(background="opaque"),
        ]  # fmt: skip
        assert len(set(different)) == len(different)
        assert fingerprint() == fingerprint(api_key="sk-another", concurrency=1, billed=False)
        assert "pass" not in fingerprint(base_url="http://user:pass@a/v1")


class TestSizes:
    @given(st.integers(1, 20_000), st.integers(1, 20_000))
    def test_every_size_is_one_the_model_takes(self, width: int, height: int) -> None:
        w, h = snapped(width, height)
        assert w % 16 == h % 16 == 0 and max(w, h) <= 3 * min(w, h)
        assert 16 <= min(w, h) <= 2160 and max(w, h) <= 3840
        assert (w >= h) == (width >= height) or w == h

    @given(st.integers(1, 135), st.integers(1, 135))
    def test_a_size_the_model_takes_stays(self, columns: int, rows: int) -> None:
        if max(columns, rows) <= 3 * min(columns, rows):
            assert snapped(columns * 16, rows * 16) == (columns * 16, rows * 16)

    @pytest.mark.parametrize(
        ("size", "taken"),
        [
            ((1920, 1080), (1920, 1088)),
            ((512, 512), (512, 512)),
            ((4000, 4000), (2160, 2160)),
            ((3840, 2160), (3840, 2160)),
        ],
    )
    def test_usual_sizes(self, size: tuple[int, int], taken: tuple[int, int]) -> None:
        assert snapped(*size) == taken

    @given(st.integers(1, 20_000), st.integers(1, 20_000), st.integers(4096, 1_000_000))
    def test_no_size_is_larger_than_the_operator_allows(self, width: int, height: int, most: int) -> None:
        w, h = snapped(width, height, most=most)
        assert w % 16 == h % 16 == 0 and max(w, h) <= 3 * min(w, h) and w * h <= most

    def test_without_a_size_the_first_reference_gives_the_shape(self) -> None:
        wide, tall = reference("w", 300, 100), reference("t", 100, 300)
        assert wanted_size(ImageRequest(prompt="x")) == (1024, 1024)
        assert wanted_size(ImageRequest(prompt="x", references=[wide, tall])) == (300, 100)
        assert wanted_size(ImageRequest(prompt="x", references=[tall], width=200)) == (200, 600)
        assert wanted_size(ImageRequest(prompt="x", references=[wide], height=200)) == (600, 200)
        large = ImageBytes(b"", "image/png", 3000, 4000)
        assert wanted_size(ImageRequest(prompt="x", references=[large])) == (1152, 1536)
