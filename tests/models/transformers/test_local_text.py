"""What a local model needs without its libraries: text from tokens, shared beginnings, names, turns."""

from __future__ import annotations

import base64
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, ChatMessage, HumanMessage, SystemMessage, ToolMessage
from PIL import Image

from langgraph_interleave.backends.registry import init_image_backend
from langgraph_interleave.critics.chat import ChatCritic
from langgraph_interleave.errors import ConfigError, InvalidRequest
from langgraph_interleave.models.forms import ability
from langgraph_interleave.models.identity import fingerprint_of
from langgraph_interleave.models.naming import chat_model, named_model
from langgraph_interleave.models.transformers import TransformersChat
from langgraph_interleave.models.transformers.loading import _refused
from langgraph_interleave.models.transformers.placement import check_name, dtype_name
from langgraph_interleave.models.transformers.prefix import common
from langgraph_interleave.models.transformers.source import read_source
from langgraph_interleave.models.transformers.speech import Speech
from langgraph_interleave.models.transformers.turns import Picture, pictures_of, turns_of
from langgraph_interleave.planners.chat import ChatPlanner


def decode(tokens: Any) -> str:
    return bytes(tokens).decode(errors="replace")


def said(text: str, stops: list[str]) -> tuple[list[str], Speech]:
    speech = Speech(decode, stops)
    return [*(speech.feed(token) for token in text.encode()), speech.finish()], speech


@given(text=st.text(max_size=40))
def test_pieces_are_the_text_and_never_half_a_character(text: str) -> None:
    pieces, speech = said(text, [])
    assert "".join(pieces) == text
    assert "\ufffd" in text or not any("\ufffd" in piece for piece in pieces)
    assert not speech.stopped


@given(
    before=st.text("abx<|é", max_size=12), stop=st.text("ab<|", min_size=1, max_size=4), after=st.text("ab", max_size=5)
)
def test_nothing_of_a_stop_is_said(before: str, stop: str, after: str) -> None:
    whole = before + stop + after
    pieces, speech = said(whole, [stop, "never"])
    assert "".join(pieces) == whole[: whole.index(stop)]
    assert speech.stopped


def test_what_only_begins_like_a_stop_is_said_after_all() -> None:
    pieces, speech = said("a </ans", ["</answer>"])
    assert "".join(pieces) == "a </ans"
    assert pieces[-1] == "</ans"
    assert not speech.stopped


@given(
    one=st.lists(st.sampled_from([1, 2, "a", "b"]), max_size=8),
    other=st.lists(st.sampled_from([1, 2, "a", "b"]), max_size=8),
)
def test_a_shared_beginning_is_shared_and_holds_no_half_a_picture(one: list[Any], other: list[Any]) -> None:
    length = common(one, other)
    assert one[:length] == other[:length]
    assert length == common(other, one)
    for keys in (one, other):
        cut_in_two = 0 < length < len(keys) and isinstance(keys[length], str) and keys[length] == keys[length - 1]
        assert not cut_in_two


# Names.


def folder(path: Path, config: Any, **others: Any) -> str:
    path.mkdir(parents=True, exist_ok=True)
    (path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    for name, text in others.items():
        (path / f"{name}.safetensors").write_text(text, encoding="utf-8")
    return str(path)


def test_a_name_is_a_folder_or_a_model_of_the_hub(tmp_path: Path) -> None:
    seeing = read_source(
        folder(tmp_path / "sees", {"vision_config": {}, "text_config": {"max_position_embeddings": 9}})
    )
    assert seeing.takes_pictures
    assert seeing.context == 9
    blind = read_source(folder(tmp_path / "blind", {"max_position_embeddings": 4096}))
    assert blind.takes_pictures is False
    hub = read_source("Qwen/Qwen3-VL-8B-Instruct")
    assert not hub.is_folder
    assert hub.takes_pictures is None


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("./nothing-here", "There is no folder"),
        ("/nothing/here", "There is no folder"),
        ("a/b/c", "neither a folder nor"),
        ("~/nothing-here", "There is no folder"),
        ("{tmp}/empty", "holds no model"),
        ("{tmp}/pipeline", "a pipeline that draws"),
        ("{tmp}/adapter", "an adapter"),
        ("{tmp}/file", "is a file"),
        ("{tmp}/broken", "cannot be read"),
    ],
)
def test_what_is_no_model_says_what_it_is(tmp_path: Path, name: str, said: str) -> None:
    for kind, file in (("pipeline", "model_index.json"), ("adapter", "adapter_config.json"), ("broken", "config.json")):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / file).write_text("{", encoding="utf-8")
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        chat_model(f"transformers:{name.format(tmp=tmp_path)}")
    assert said in str(caught.value)
    assert caught.value.remedy


def test_a_name_carries_options(tmp_path: Path) -> None:
    path = folder(tmp_path / "m", {})
    model, own = named_model(
        f"transformers:{path}?device=cpu&dtype=fp32&thinking=false&temperature=0&output=tagged", ["output"]
    )
    assert isinstance(model, TransformersChat)
    assert (model.device, model.dtype, model.thinking, model.temperature) == ("cpu", "float32", False, 0)
    assert own == {"output": "tagged"}
    assert named_model(f"transformers:{path}", ["billed"])[1] == {"billed": "false"}
    assert named_model(f"transformers:{path}?billed=true", ["billed"])[1] == {"billed": "true"}
    assert not ChatPlanner.from_string(f"transformers:{path}").billed
    assert chat_model(f"transformers:{path}?stop=END").stop == ["END"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("device=gpu", "device='gpu'"),
        ("device=cpu:", "device='cpu:'"),
        ("dtype=int4", "dtype='int4'"),
        ("quantization=2bit", "quantization"),
        ("max_tokens=5", "no option 'max_tokens'"),
        ("temperature=-1", "temperature"),
        ("max_new_tokens=0", "max_new_tokens"),
        ("base_url=http://127.0.0.1:8000/v1", "no option 'base_url'"),
    ],
)
def test_options_that_cannot_be_are_refused_at_once(tmp_path: Path, options: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        chat_model(f"transformers:{folder(tmp_path / 'm', {})}?{options}")
    assert said in str(caught.value)


def test_names_of_devices_and_numbers() -> None:
    assert [check_name(name) for name in ("auto", "cuda:1", "spread", "mps")] == ["auto", "cuda:1", "spread", "mps"]
    assert dtype_name("torch.bfloat16") == "bfloat16"


def test_the_profile_leads_to_tagged_text_and_a_blind_critic_is_refused(tmp_path: Path) -> None:
    path = folder(tmp_path / "m", {"max_position_embeddings": 512})
    model = chat_model(f"transformers:{path}")
    assert (
        ability(model, "structured_output") is ability(model, "tool_calling") is ability(model, "image_inputs") is False
    )
    assert model.profile is not None
    assert model.profile["max_input_tokens"] == 512  # type: ignore[typeddict-item]
    with pytest.raises(ConfigError) as refused:
        ChatCritic.from_string(f"transformers:{path}?max_side=64")
    assert refused.value.message == f"The critic model transformers:{path}?max_side=64 takes no pictures."
    with pytest.raises(ConfigError, match=f"The critic model {path} takes no pictures"):
        ChatCritic(model)


NEITHER = "is neither a folder nor a model of the hub. Write OWNER/MODEL, or the path of a folder."


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nofolder", f"'nofolder' {NEITHER}"),
        ("a/b/c", f"'a/b/c' {NEITHER}"),
        ("./nofolder", "There is no folder ./nofolder. Check the path, or give a hub id (OWNER/MODEL)."),
        ("/no/folder", "There is no folder /no/folder. Check the path, or give a hub id (OWNER/MODEL)."),
    ],
)
def test_no_folder_is_said_at_once_and_as_the_backend_diffusers_says_it(name: str, says: str) -> None:
    with pytest.raises(ConfigError) as local:
        ChatPlanner.from_string(f"transformers:{name}")
    with pytest.raises(ConfigError) as drawing:
        init_image_backend(f"diffusers:{name}")
    assert str(local.value) == str(drawing.value) == says


def test_a_model_that_is_not_here_and_no_hub() -> None:
    refused = _refused("owner/model", OSError("We couldn't connect to 'https://huggingface.co' to load the files."))
    assert str(refused) == (
        "owner/model is not on this machine, and the hub cannot be reached. "
        "Connect once and run: hf download owner/model; or give the path of a folder."
    )


def test_a_fingerprint_names_the_weights_and_how_they_are_asked(tmp_path: Path) -> None:
    path = folder(tmp_path / "m", {"a": 1}, model="one")

    def prints(**options: Any) -> str:
        return fingerprint_of(TransformersChat(model=path, **options))

    first = prints()
    assert prints() == first
    assert prints(temperature=0.5) != first
    assert prints(thinking=False) != first
    folder(tmp_path / "m", {"a": 1}, model="other weights")
    assert prints() != first


def test_nothing_heavy_is_imported_before_the_first_call(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from langgraph_interleave.models.naming import chat_model\n"
        f"chat_model('transformers:{folder(tmp_path / 'm', {})}')\n"
        "print(sorted({'torch', 'transformers', 'numpy', 'PIL'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


# Turns.


def picture(colour: str = "red", kind: str = "PNG", **options: Any) -> str:
    buffer = io.BytesIO()
    Image.new("RGB", (4, 2), colour).save(buffer, kind, **options)
    return base64.b64encode(buffer.getvalue()).decode()


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "base64": "@", "mime_type": "image/png"},
        {"type": "image", "source_type": "base64", "data": "@", "mime_type": "image/png"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,@"}},
        {"type": "image_url", "image_url": "data:image/png;base64,@"},
        {"type": "image", "url": "data:image/png;base64,@"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "@"}},
    ],
)
def test_pictures_in_every_form(block: dict[str, Any]) -> None:
    told = json.loads(json.dumps(block).replace("@", picture()))
    [turn] = turns_of([HumanMessage(["see", told, "and say"])])
    first, seen, last = turn.parts
    assert (first, last) == ("see", "and say")
    assert isinstance(seen, Picture)
    assert (seen.pixels.mode, seen.pixels.size, seen.pixels.getpixel((0, 0))) == ("RGB", (4, 2), (255, 0, 0))


def test_a_picture_is_turned_upright() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    [turn] = turns_of([HumanMessage([{"type": "image", "base64": picture(kind="JPEG", exif=exif)}])])
    assert [seen.pixels.size for seen in pictures_of([turn])] == [(2, 4)]


def test_speakers_take_turns() -> None:
    messages = [
        SystemMessage("Be brief."),
        HumanMessage("Hi"),
        HumanMessage([{"type": "text", "text": "there"}]),
        AIMessage([{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "Hello"}]),
        ChatMessage(role="user", content="Bye"),
    ]
    turns = turns_of(messages)
    assert [turn.role for turn in turns] == ["system", "user", "assistant", "user"]
    assert turns[1].parts == ("Hi", "there")
    assert turns[2].parts == ("Hello",)


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([], "nothing to answer"),
        ([SystemMessage("x")], "nothing to answer"),
        ([HumanMessage("x"), ToolMessage("y", tool_call_id="1")], "ToolMessage"),
        ([HumanMessage([{"type": "image", "url": "https://example.org/a.png"}])], "not by address"),
        ([HumanMessage([{"type": "image", "base64": "no base64!"}])], "not base64"),
        ([HumanMessage([{"type": "image", "base64": "aGVsbG8="}])], "picture in a message is"),
        ([HumanMessage([{"type": "audio", "base64": "aGVsbG8="}])], "'audio'"),
    ],
)
def test_what_a_local_model_does_not_take(messages: list[Any], said: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        turns_of(messages)
    assert said in str(caught.value)
