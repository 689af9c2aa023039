"""Servers that are not OpenAI's: each of their deviations, played by the loopback server, requests counted."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio
from loopback import LoopbackServer, serving
from loopback_answers import Recorded
from loopback_replies import Failure, Pictures, Raw, Reply, bad_request, error_in_200, html, picture_of, server_error
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from langgraph_interleave.backends.openai_images import OpenAIImagesBackend
from langgraph_interleave.backends.openai_profiles import PROFILES, profile_of, told_by
from langgraph_interleave.errors import BadResponse, ConfigError, InvalidRequest, Unavailable
from langgraph_interleave.imaging import chunks
from langgraph_interleave.types import ImageBytes, ImageRequest

BALL = ImageRequest(prompt="a red ball", width=64, height=64)
Making = Callable[..., OpenAIImagesBackend]


def reference(name: str = "r", width: int = 32, height: int = 32) -> ImageBytes:
    return ImageBytes(picture_of(name, width, height), "image/png", width, height)


def mask(width: int = 32, height: int = 32, alpha: int = 0, mode: str = "RGBA", mime: str = "image/png") -> ImageBytes:
    image = Image.new(mode, (width, height), (0, 0, 0, 255) if mode == "RGBA" else 0)
    if mode == "RGBA":
        image.putpixel((1, 1), (0, 0, 0, alpha))
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return ImageBytes(buffer.getvalue(), mime, width, height)


class TestTelling:
    @pytest.mark.parametrize(
        ("address", "name"),
        [
            ("https://api.openai.com/v1", "openai"),
            ("https://mine.openai.azure.com/openai/v1", "openai"),
            ("http://127.0.0.1:11434/v1", "ollama"),
            ("http://127.0.0.1:30000/v1", "sglang"),
            ("http://localai:8080/v1", "localai"),
            ("https://sglang.example/v1", "sglang"),
            ("http://vllm-omni.local:8091/v1", "vllm-omni"),
            ("http://sd-server:1234/v1", "sdcpp"),
            ("http://127.0.0.1:8080/v1", "generic"),
            ("http://127.0.0.1:1234/v1", "generic"),
            ("https://api.openai.com.evil.example/v1", "generic"),
        ],
    )
    def test_by_address(self, address: str, name: str) -> None:
        assert profile_of(None, address).name == name
        assert profile_of("sdcpp", address).name == "sdcpp"

    def test_by_name(self) -> None:
        assert profile_of("VLLM_Omni", "http://a").name == "vllm-omni"
        with pytest.raises(ConfigError, match="sglang"):
            profile_of("vlm", "http://a")

    @pytest.mark.parametrize(
        ("models", "name"),
        [
            ([{"id": "m", "object": "model", "owned_by": "vllm"}], "vllm-omni"),
            ([{"id": "m", "object": "model", "owned_by": "sglang"}], "sglang"),
            ([{"id": "sd-cpp-local", "object": "model", "owned_by": "local"}], "sdcpp"),
            ([{"id": "m", "object": "model", "owned_by": "library"}], "ollama"),
            ([{"id": "m", "object": "model"}], "localai"),
            ([{"id": "m", "object": "model", "owned_by": "somebody"}], None),
            ([], None),
        ],
    )
    def test_by_its_list_of_models(self, models: list[dict], name: str | None) -> None:
        assert told_by({"data": models}) == name
        assert told_by({"data": None}) is None

    @pytest.mark.parametrize("name", PROFILES)
    def test_capabilities_are_those_of_the_profile(self, name: str) -> None:
        profile = PROFILES[name]
        can = OpenAIImagesBackend("flux", base_url="http://a/v1", api_key="k", profile=name).capabilities
        assert (can.edit == "instruct") == (profile.edits != "none") == (can.max_references > 0)
        assert (can.seed == "exact") == (profile.seed != "none")
        assert can.negative_prompt == (profile.negative != "none")
        assert (can.mask, can.transparent, can.billed) == (profile.mask, profile.transparent, profile.billed)
        assert (can.concurrency, can.size_multiple) == (profile.concurrency, profile.size_multiple)
        assert can.progress == "none"

    def test_ones_own_settings_go_first(self) -> None:
        made = OpenAIImagesBackend.from_string(
            "flux?base_url=http://a/v1&profile=sdcpp&concurrency=3&billed=yes&max_references=1&max_prompt_tokens=77"
        )
        can = made.capabilities
        assert (can.concurrency, can.billed, can.max_references, can.max_prompt_tokens) == (3, True, 1, 77)
        small = OpenAIImagesBackend.from_string("flux?base_url=http://a/v1&profile=sdcpp&max_pixels=262144")
        assert small.capabilities.max_pixels == 512 * 512 < can.max_pixels
        previews = OpenAIImagesBackend(base_url="http://a/v1", partial_images=2, api_key="k")
        assert previews.capabilities.progress == "previews"
        with pytest.raises(ConfigError, match="no references"):
            OpenAIImagesBackend("flux", base_url="http://a/v1", profile="ollama", max_references=2)
        with pytest.raises(ConfigError, match="partial_images"):
            OpenAIImagesBackend("flux", base_url="http://a/v1", partial_images=4)

    def test_another_profile_is_another_fingerprint(self) -> None:
        made = [OpenAIImagesBackend("m", base_url="http://a/v1", profile=name).fingerprint for name in PROFILES]
        assert len(set(made)) == len(PROFILES)


@pytest.fixture(scope="module")
def running() -> Iterator[LoopbackServer]:
    with serving() as server:
        yield server


@pytest.fixture
def server(running: LoopbackServer) -> LoopbackServer:
    running.reset()
    running.lenient = True
    return running


# One client for the module: reading certificates takes longer than a request.
@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(running: LoopbackServer) -> AsyncIterator[Any]:
    from openai import AsyncOpenAI

    async with AsyncOpenAI(api_key="sk-of-the-server", base_url=running.base_url) as made:
        yield made


@pytest.fixture
def making(client: Any, server: LoopbackServer) -> Making:
    def make(profile: str | None = None, **options: Any) -> OpenAIImagesBackend:
        return OpenAIImagesBackend("flux", client=client, profile=profile, **options)

    return make


@pytest.mark.server
@pytest.mark.asyncio(loop_scope="module")
class TestDeviations:
    @pytest.mark.parametrize("profile", ["vllm-omni", "sglang"])
    async def test_servers_of_diffusion_models(self, making: Making, server: LoopbackServer, profile: str) -> None:
        request = replace(BALL, seed=2**32 - 1, negative_prompt="people", n=2)
        backend = making(profile, extra_body={"num_inference_steps": 4})
        result = await backend.agenerate(request)
        # Of one request with n=2 nobody knows which seed the second picture has.
        assert sorted(sent.body.pop("seed") for sent in server.requests) == [0, 2**32 - 1]
        for sent in server.requests:
            assert sent.body == {
                "model": "flux", "prompt": "a red ball", "n": 1, "size": "64x64", "response_format": "b64_json",
                "negative_prompt": "people", "num_inference_steps": 4,
            }  # fmt: skip
        assert [image.seed for image in result.images] == [2**32 - 1, 0] and result.usage.images == 2
        assert result.warnings == () and result.usage.cost_usd == 0.0
        await backend.agenerate(replace(request, references=[reference()], n=1, seed=7))
        [edited] = server.on("edits")
        assert edited.body["seed"] == 7 and edited.body["response_format"] == "b64_json"
        assert [file.field for file in edited.files] == ["image"]

    async def test_more_pictures_than_asked_for_are_left(self, making: Making, server: LoopbackServer) -> None:
        server.script("generations", [Pictures(n=5)])
        result = await making().agenerate(replace(BALL, n=2))
        assert len(result.images) == 2
        assert result.warnings == ("flux drew 5 pictures; the first 2 were kept.",)

    async def test_fewer_pictures_than_asked_for_are_told(self, making: Making, server: LoopbackServer) -> None:
        server.script("generations", [Pictures(n=1)])
        result = await making("vllm-omni").agenerate(replace(BALL, n=3))
        assert result.warnings == ("3 pictures were asked for; flux drew 1.",)
        assert len(server.requests) == 1

    async def test_of_several_with_a_seed_those_that_came_are_kept(
        self, making: Making, server: LoopbackServer
    ) -> None:
        server.script("generations", lambda sent: server_error() if sent.body["seed"] == 8 else Pictures())
        result = await making("sglang").agenerate(replace(BALL, n=3, seed=7))
        assert [image.seed for image in result.images] == [7, 9] and len(server.requests) == 3
        assert len(result.warnings) == 1 and "could not be drawn" in result.warnings[0]
        server.script("generations", lambda _: server_error())
        with pytest.raises(Unavailable):
            await making("sglang").agenerate(replace(BALL, n=2, seed=7))

    async def test_a_size_that_is_ignored_is_told(self, making: Making, server: LoopbackServer) -> None:
        server.script("generations", [Pictures(size=(512, 512))])
        result = await making("localai").agenerate(BALL)
        assert result.warnings == ("64x64 was asked for (sent as 64x64); flux drew 512x512.",)

    @pytest.mark.parametrize(
        ("profile", "sent"), [("sdcpp", "72x48"), ("localai", "72x48"), ("sglang", "64x48"), ("generic", "64x48")]
    )
    async def test_sizes_are_those_the_server_keeps(
        self, making: Making, server: LoopbackServer, profile: str, sent: str
    ) -> None:
        result = await making(profile).agenerate(replace(BALL, width=70, height=50))
        assert server.requests[0].body["size"] == sent
        assert result.warnings == (f"70x50 was asked for; flux drew {sent}.",)

    async def test_a_relative_address_is_fetched_with_the_key(self, making: Making, server: LoopbackServer) -> None:
        picture = picture_of("from a file", 64, 64)
        server.files["/v1/images/7/content"] = Raw(picture, "image/png")
        server.script("edits", [Pictures(urls=["/v1/images/7/content"])])
        result = await making("sglang").agenerate(replace(BALL, references=[reference()]))
        assert result.images[0].data == picture
        assert [request.route for request in server.requests] == ["edits", "files"]
        assert server.requests[1].headers["authorization"] == "Bearer sk-of-the-server"

    async def test_an_absolute_address_of_the_server_itself(self, making: Making, server: LoopbackServer) -> None:
        picture = picture_of("from a file", 64, 64)
        server.files["/generated-images/a.png"] = Raw(picture, "image/png")
        server.script("generations", [Pictures(urls=[server.base_url.replace("/v1", "/generated-images/a.png")])])
        assert (await making("generic").agenerate(BALL)).images[0].data == picture
        assert len(server.requests) == 2

    @pytest.mark.parametrize(
        "address", ["http://127.0.0.1:9/a.png", "http://169.254.169.254/latest", "file:///etc/passwd", "/not-there"]
    )
    async def test_addresses_that_lead_elsewhere_inside_are_not_followed(
        self, making: Making, server: LoopbackServer, address: str
    ) -> None:
        server.script("generations", [Pictures(urls=[address])])
        with pytest.raises(BadResponse) as caught:
            await making("generic").agenerate(BALL)
        assert caught.value.ambiguous and caught.value.usage is not None
        assert server.counts["generations"].requests == 1

    async def test_an_expired_address(self, making: Making, server: LoopbackServer) -> None:
        server.files["/a.png"] = Raw("expired", "text/plain", 403)
        server.script("generations", [Pictures(urls=["/a.png"])])
        with pytest.raises(BadResponse, match="status 403"):
            await making("generic").agenerate(BALL)

    async def test_references_in_the_json_where_there_is_no_route_for_edits(
        self, making: Making, server: LoopbackServer
    ) -> None:
        server.missing = frozenset({"edits"})
        references = [reference("a"), reference("b")]
        await making("localai").agenerate(replace(BALL, references=references, seed=3))
        [sent] = server.requests
        assert sent.route == "generations" and sent.body["seed"] == 3
        assert [base64.b64decode(text) for text in sent.body["ref_images"]] == [image.data for image in references]
        assert sent.body["response_format"] == "b64_json"

    async def test_localai_splits_at_a_bar(self, making: Making, server: LoopbackServer) -> None:
        request = replace(BALL, prompt="a cat | with a hat", negative_prompt="a dog | a cow")
        result = await making("localai").agenerate(request)
        assert server.requests[0].body["prompt"] == "a cat / with a hat | a dog / a cow"
        assert len(result.warnings) == 1 and "|" in result.warnings[0]

    async def test_sd_server_takes_settings_in_the_prompt_from_us_alone(
        self, making: Making, server: LoopbackServer
    ) -> None:
        backend = making("sdcpp", extra_body={"steps": 4})
        prompt = 'a ball <sd_cpp_extra_args>{"steps": 99}</sd_cpp_extra_args> <lora:evil:1>'
        result = await backend.agenerate(replace(BALL, prompt=prompt, seed=2**32 - 1, n=2))
        [sent] = server.requests
        assert set(sent.body) == {"model", "prompt", "n", "size"}
        words, _, settings = sent.body["prompt"].partition("<sd_cpp_extra_args>")
        assert words == 'a ball {"steps": 99}  '
        assert json.loads(settings.removesuffix("</sd_cpp_extra_args>")) == {"seed": 2**32 - 1, "steps": 4}
        assert [image.seed for image in result.images] == [2**32 - 1, 0]
        assert len(result.warnings) == 2

    async def test_sd_server_writes_the_prompt_into_the_picture(self, making: Making, server: LoopbackServer) -> None:
        info = PngInfo()
        info.add_text("parameters", "a red ball, Seed: 42")
        buffer = io.BytesIO()
        Image.open(io.BytesIO(picture_of("x", 64, 64))).save(buffer, "PNG", pnginfo=info)
        server.script("generations", [Pictures(images=[buffer.getvalue()])])
        [image] = (await making("sdcpp").agenerate(BALL)).images
        assert b"parameters" in buffer.getvalue() and b"parameters" not in image.data

    @pytest.mark.parametrize("profile", ["sdcpp", "openai", "localai"])
    async def test_a_reference_that_cannot_be_read_is_refused_before_it_is_left_out(
        self, making: Making, server: LoopbackServer, profile: str
    ) -> None:
        broken = ImageBytes(picture_of("r", 32, 32)[:-30], "image/png", 32, 32)
        with pytest.raises(InvalidRequest, match="Reference 2"):
            await making(profile).agenerate(replace(BALL, references=[reference(), broken]))
        assert server.requests == []

    async def test_servers_that_take_one_reference_or_none(self, making: Making, server: LoopbackServer) -> None:
        one = making("vllm-omni", max_references=1)
        await one.agenerate(replace(BALL, references=[reference()]))
        assert [file.field for file in server.requests[0].files] == ["image"]
        with pytest.raises(InvalidRequest, match="2 references"):
            await one.agenerate(replace(BALL, references=[reference(), reference()]))
        with pytest.raises(InvalidRequest, match="1 references"):
            await making("ollama").agenerate(replace(BALL, references=[reference()]))
        with pytest.raises(InvalidRequest, match="2 pictures"):
            await making("ollama").agenerate(replace(BALL, n=2))
        assert len(server.requests) == 1

    @pytest.mark.parametrize(
        "failure",
        [
            bad_request("Unknown parameter: 'response_format'.", param="response_format", code="unknown_parameter"),
            Failure(400, "response_format is not supported"),
            Raw(
                '{"detail": [{"loc": ["body", "response_format"], "msg": "Extra inputs are not permitted"}]}',
                status=422,
            ),
        ],
    )
    async def test_a_refused_field_is_left_out_once_and_for_all(
        self, making: Making, server: LoopbackServer, failure: Reply
    ) -> None:
        def strict(request: Recorded) -> Reply:
            return failure if "response_format" in request.body else Pictures()

        server.script("generations", strict)
        backend = making("sglang")
        assert (await backend.agenerate(BALL)).images
        assert ["response_format" in request.body for request in server.requests] == [True, False]
        assert (await backend.agenerate(BALL)).images
        assert len(server.requests) == 3

    async def test_a_demanded_field_is_sent_from_then_on(self, making: Making, server: LoopbackServer) -> None:
        def strict(request: Recorded) -> Reply:
            told = request.body.get("response_format") == "b64_json"
            return Pictures() if told else Failure(400, {"message": "response_format must be b64_json"})

        server.script("generations", strict)
        backend = making("generic")
        for _ in range(2):
            assert (await backend.agenerate(BALL)).images
        assert len(server.requests) == 3

    async def test_a_seed_that_is_refused(self, making: Making, server: LoopbackServer) -> None:
        def strict(request: Recorded) -> Reply:
            unknown = next((name for name in ("response_format", "seed") if name in request.body), None)
            return bad_request(f"Unknown parameter: '{unknown}'.", param=unknown) if unknown else Pictures()

        server.script("generations", strict)
        backend = making("vllm-omni")
        assert backend.capabilities.seed == "exact"
        result = await backend.agenerate(replace(BALL, seed=5))
        assert len(server.requests) == 3
        assert result.images[0].seed is None and backend.capabilities.seed == "ignored"

    async def test_a_server_that_refuses_whatever_is_sent_is_asked_twice(
        self, making: Making, server: LoopbackServer
    ) -> None:
        server.script("generations", lambda _: bad_request("bad response_format", param="response_format"))
        with pytest.raises(InvalidRequest):
            await making("sglang").agenerate(BALL)
        assert len(server.requests) == 2

    @pytest.mark.parametrize(
        "failure", [bad_request("The seed of all evil."), bad_request("Bad size", param="size"), server_error(500)]
    )
    async def test_other_failures_are_sent_once(self, making: Making, server: LoopbackServer, failure: Reply) -> None:
        server.script("generations", lambda _: failure)
        with pytest.raises(Exception, match="refused|failed"):
            await making("vllm-omni").agenerate(replace(BALL, seed=1))
        assert len(server.requests) == 1

    @pytest.mark.parametrize(("reply", "missing"), [
        (Failure(404, "404 page not found"), True),
        (Raw('{"detail": "Not Found"}', status=404), True),
        (Raw('{"detail": "Method Not Allowed"}', status=405), True),
        (Raw("<html>The model railway site: not found</html>", "text/html", status=404), True),
        (Failure(404, {"message": "Invalid URL (POST /v1/images/edits)", "type": "invalid_request_error"}), True),
        (Failure(404, {"message": "The model `flux` does not exist.", "code": "model_not_found"}), False),
        (Raw('{"error": {"message": "\'flux\' is not here.", "code": 404}}', status=404), False),
        (Raw('{"error": "model not loaded"}', status=404), False),
    ])  # fmt: skip
    async def test_a_server_that_generates_only_is_told_from_a_model_that_is_not_there(
        self, making: Making, server: LoopbackServer, reply: Reply, missing: bool
    ) -> None:
        backend = making()
        editing = replace(BALL, references=(reference("a"),))
        for route in ("edits", "generations"):
            server.script(route, [reply])
        with pytest.raises(ConfigError) as told:
            await backend.agenerate(editing)
        assert ("has no /images/edits. If it cannot edit, say max_references=0" in str(told.value)) is missing
        assert ("there is no such model" in str(told.value)) is not missing
        with pytest.raises(ConfigError) as told:
            await backend.agenerate(BALL)
        assert ("has no /images/generations. Check base_url" in str(told.value)) is missing
        assert server.counts["edits"].requests == server.counts["generations"].requests == 1

    async def test_a_model_that_has_just_drawn_is_there(self, making: Making, server: LoopbackServer) -> None:
        backend = making()
        server.script("edits", [Raw('{"error": {"message": "The model `flux` does not exist."}}', status=404)])
        await backend.agenerate(BALL)
        with pytest.raises(ConfigError, match=r"^127\.0\.0\.1:\d+ has no /images/edits\."):
            await backend.agenerate(replace(BALL, references=(reference("a"),)))
        alone = making(max_references=0)
        assert (alone.capabilities.edit, alone.capabilities.max_references) == ("none", 0)

    async def test_an_error_that_is_mere_words(self, making: Making, server: LoopbackServer) -> None:
        server.script("generations", [Failure(400, "invalid output_format, must be one of [png, jpeg]")])
        with pytest.raises(InvalidRequest, match="invalid output_format"):
            await making("sdcpp").agenerate(BALL)

    async def test_a_black_picture_is_an_error_and_was_paid_for(self, making: Making, server: LoopbackServer) -> None:
        buffer = io.BytesIO()
        Image.new("RGB", (64, 64)).save(buffer, "PNG")
        server.script("generations", lambda _: Pictures(images=[buffer.getvalue()]))
        with pytest.raises(BadResponse) as caught:
            await making("generic").agenerate(BALL)
        assert caught.value.code == "black" and caught.value.usage is not None and caught.value.usage.output_tokens
        good = picture_of("good", 64, 64)
        server.script("generations", [Pictures(images=[buffer.getvalue(), good])])
        result = await making("generic").agenerate(replace(BALL, n=2))
        assert [image.data for image in result.images] == [good]
        assert len(result.warnings) == 1 and "could not be used" in result.warnings[0]

    async def test_what_is_signed_is_kept_and_told(self, making: Making, server: LoopbackServer) -> None:
        parts = chunks.parts_of(picture_of("signed", 64, 64))
        manifest = chunks.png_part("caBX", b"\0\0\0\x20jumb\0\0\0\x18jumdc2pa\0\x11\0\x10")
        signed = chunks.joined([*parts[:2], manifest, chunks.png_part("tEXt", b"a\0b"), *parts[2:]])
        server.script("generations", [Pictures(images=[signed])])
        result = await making("openai").agenerate(BALL)
        assert result.signed and result.images[0].data == signed
        assert not (await making("openai").agenerate(BALL)).signed

    async def test_a_long_prompt_is_shortened_and_told(self, making: Making, server: LoopbackServer) -> None:
        prompt = "A pot on a table. " + "It is a very old one. " * 60 + "Keep the style of ink."
        result = await making("generic", max_prompt_tokens=40).agenerate(replace(BALL, prompt=prompt))
        sent = server.requests[0].body["prompt"]
        assert sent.startswith("A pot on a table.") and sent.endswith("Keep the style of ink.")
        assert len(result.warnings) == 1 and "40 tokens" in result.warnings[0]

    async def test_a_server_that_repeats_the_prompt_has_not_drawn_another(
        self, making: Making, server: LoopbackServer
    ) -> None:
        server.script("generations", lambda sent: Pictures(revised_prompt=sent.body["prompt"]))
        result = await making("localai").agenerate(replace(BALL, negative_prompt="people"))
        assert result.warnings == ()

    async def test_who_the_server_says_it_is(self, making: Making, server: LoopbackServer) -> None:
        listed = {"object": "list", "data": [{"id": "flux", "object": "model", "owned_by": "vllm"}]}
        server.script("models", [Raw(json.dumps(listed)), Failure(404, "no"), html()])
        backend = making()
        assert [await backend.aprofile() for _ in range(3)] == ["vllm-omni", None, None]
        assert backend.profile.name == "generic"


@pytest.mark.server
@pytest.mark.asyncio(loop_scope="module")
class TestOwnWords:
    """Masks, transparency, quality: as OpenAI's own API takes them."""

    @pytest.fixture(autouse=True)
    def strict(self, server: LoopbackServer) -> Iterator[None]:
        server.lenient = False
        yield
        assert server.violations == []

    async def test_a_mask_goes_along(self, making: Making, server: LoopbackServer) -> None:
        marked = mask()
        await making("openai").agenerate(replace(BALL, references=[reference("a"), reference("b")], mask=marked))
        [sent] = server.requests
        assert [(file.field, file.name) for file in sent.files] == [
            ("image[]", "ref0.png"), ("image[]", "ref1.png"), ("mask", "mask.png"),
        ]  # fmt: skip
        assert (sent.files[2].data, sent.files[2].mime) == (marked.data, "image/png")

    @pytest.mark.parametrize(
        ("given", "references", "words"),
        [
            (mask(16, 16), 1, "16x16"),
            (mask(), 0, "without a reference"),
            (mask(alpha=255), 1, "Nothing in the mask"),
            (mask(mode="L"), 1, "Nothing in the mask"),
            (mask(mime="image/webp"), 1, "not taken"),
            (ImageBytes(b"\x89PNG broken", "image/png", 32, 32), 1, "mask is"),
        ],
    )
    async def test_a_mask_that_is_none_is_not_sent(
        self, making: Making, server: LoopbackServer, given: ImageBytes, references: int, words: str
    ) -> None:
        with pytest.raises(InvalidRequest, match=words):
            await making("openai").agenerate(replace(BALL, references=[reference()] * references, mask=given))
        assert server.requests == []

    @pytest.mark.parametrize("profile", ["sdcpp", "localai", "ollama", "sglang"])
    async def test_a_server_that_would_ignore_a_mask_is_not_asked(
        self, making: Making, server: LoopbackServer, profile: str
    ) -> None:
        references = [] if profile == "ollama" else [reference()]
        with pytest.raises(InvalidRequest, match="takes no mask"):
            await making(profile).agenerate(replace(BALL, references=references, mask=mask()))
        assert server.requests == []

    async def test_a_transparent_ground(self, making: Making, server: LoopbackServer) -> None:
        buffer = io.BytesIO()
        drawn = Image.new("RGBA", (64, 64))
        drawn.putpixel((9, 9), (200, 0, 0, 255))
        drawn.save(buffer, "PNG")
        server.script("generations", [Pictures(images=[buffer.getvalue()]), Pictures()])
        backend = making("openai", output_format="jpeg", output_compression=80)
        result = await backend.agenerate(replace(BALL, transparent=True))
        sent = server.requests[0].body
        assert (sent["background"], sent["output_format"]) == ("transparent", "png")
        assert "output_compression" not in sent
        assert result.warnings == ("JPEG pictures cannot be transparent; PNG was asked for.",)
        opaque = await making("openai").agenerate(replace(BALL, transparent=True))
        assert opaque.warnings == ("A transparent ground was asked for; flux drew on an opaque one.",)

    @pytest.mark.parametrize(("quality", "sent"), [("draft", "low"), ("standard", "medium"), ("high", "high")])
    async def test_quality(self, making: Making, server: LoopbackServer, quality: Any, sent: str) -> None:
        await making("openai", quality="max").agenerate(replace(BALL, quality=quality))
        assert server.requests[0].body["quality"] == sent

    async def test_what_a_server_has_no_word_for_is_told(self, making: Making, server: LoopbackServer) -> None:
        server.lenient = True
        request = replace(BALL, quality="high", transparent=True, negative_prompt="people", seed=3)
        result = await making("ollama").agenerate(request)
        assert set(server.requests[0].body) == {"model", "prompt", "n", "size"}
        told = " ".join(result.warnings)
        assert all(words in told for words in ("one quality only", "no transparent ground", "must not be there"))

    async def test_an_error_in_a_200(self, making: Making, server: LoopbackServer) -> None:
        server.script("generations", [error_in_200("Upstream failed.")])
        with pytest.raises(BadResponse):
            await making("openai").agenerate(BALL)
        assert len(server.requests) == 1
