"""What a ComfyUI server says: its refusals and failures as errors of ours, its results as pictures."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from langgraph_interleave.backends.comfyui_workflow import Node
from langgraph_interleave.errors import (
    BadResponse,
    CallError,
    ConfigError,
    InterleaveError,
    InvalidRequest,
    Unavailable,
)

#: Of a list of what there is, so many are named.
_NAMED = 8
_ENDINGS = (".jpeg", ".jpg", ".png", ".webp")
_OUT_OF_MEMORY = ("outofmemory", "out of memory", "not enough memory", "allocation on device")


@dataclass(frozen=True, slots=True)
class Stored:
    """A file on the server, as `/view` is asked for it."""

    filename: str
    subfolder: str
    type: str


def refused(body: Mapping[str, Any], open_inputs: Collection[tuple[str, str]], *, what: str) -> InterleaveError:
    """The error that an answer of status 400 to `/prompt` means; every node that is wrong is named.

    Args:
        body: The answer.
        open_inputs: Node and input of every placeholder: wrong values there are the request's.
        what: Who was asked.

    Example:
        >>> error = {"type": "invalid_prompt", "extra_info": {"class_type": "Sketch", "node_id": "7"}}
        >>> refused({"error": error}, (), what="comfyui").message
        'comfyui has no node Sketch (node 7 of the workflow).'
    """
    error = _mapping(body.get("error"))
    told = _mapping(error.get("extra_info"))
    name = told.get("class_type")
    if isinstance(name, str) and name and not _mapping(body.get("node_errors")):
        where = f" (node {told['node_id']} of the workflow)" if told.get("node_id") else ""
        return ConfigError(
            f"{what} has no node {_short(name)}{where}.",
            remedy="Install the custom nodes that bring it, and restart the server.",
        )
    wrong = list(_wrong(_mapping(body.get("node_errors"))))
    if wrong:
        said = "; ".join(dict.fromkeys(words for _, _, words, _ in wrong))
        if all((node, name) in open_inputs for node, name, _, _ in wrong):
            return InvalidRequest(f"{what} refused the request: {said}.", remedy="Ask for another size, or picture.")
        missing = any(kind == "value_not_in_list" for _, _, _, kind in wrong)
        remedy = "Put the files into the server's models folder, or choose others in the workflow."
        return ConfigError(
            f"{what} cannot run the workflow: {said}.",
            remedy=remedy if missing else "Correct the workflow in ComfyUI, and export it again.",
        )
    words = _short(error.get("message") or body.get("error") or "no reason was given", 300).rstrip(".")
    return ConfigError(
        f"{what} refused the workflow: {words}.", remedy="Run it in ComfyUI itself, and export it again."
    )


def _wrong(nodes: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Node, input, words and kind of everything that is wrong."""
    for node, held in nodes.items():
        name = f"node {node} ({_short(_mapping(held).get('class_type', '?'))})"
        for error in _mappings(_mapping(held).get("errors")):
            told = _mapping(error.get("extra_info"))
            key = str(told.get("input_name") or "")
            kind = str(error.get("type") or "")
            if kind == "value_not_in_list":
                value = _short(repr(told.get("received_value")))
                there = _choices(told.get("input_config"))
                words = f"{name} has no {key} {value} (there: {_listed(there)})"
            elif kind == "required_input_missing":
                words = f"{name} lacks its input {key}"
            else:
                words = f"{name}: {_short(error.get('message', kind))}: {_short(error.get('details', ''), 160)}"
            yield node, key, words.rstrip(": "), kind


def missing(class_type: str, info: Mapping[str, Any], node: Node) -> Iterator[str]:
    """What `/object_info` of a class does not have that a node of it asks for, in words.

    Example:
        >>> info = {"input": {"required": {"ckpt_name": [["a.safetensors"], {}]}}}
        >>> list(missing("Loader", info, {"inputs": {"ckpt_name": "b.safetensors"}}))
        ["Loader has no ckpt_name 'b.safetensors' (there: a.safetensors)"]
    """
    for group in ("required", "optional"):
        for name, spec in _mapping(_mapping(info.get("input")).get(group)).items():
            value = node["inputs"].get(name)
            there = _choices(spec)
            if there is None or not isinstance(value, str) or "{{" in value or value in there:
                continue
            yield f"{_short(class_type)} has no {name} {_short(repr(value))} (there: {_listed(there)})"


def _choices(spec: object) -> list[str] | None:
    """What an input may be, in either form the server tells it."""
    if not isinstance(spec, Sequence) or isinstance(spec, str) or not spec:
        return None
    first = cast("Sequence[Any]", spec)[0]
    if isinstance(first, list):
        return [str(one) for one in cast("list[object]", first)]
    options = _mapping(cast("Sequence[Any]", spec)[1] if len(cast("Sequence[Any]", spec)) > 1 else None)
    if first == "COMBO" and isinstance(options.get("options"), list):
        return [str(one) for one in options["options"]]
    return None


def _listed(there: list[str] | None) -> str:
    if not there:
        return "none"
    return ", ".join(_short(one) for one in there[:_NAMED]) + (", …" if len(there) > _NAMED else "")


def failed(data: Mapping[str, Any], *, what: str) -> CallError:
    """The error that an `execution_error` means.

    Example:
        >>> failed({"node_id": "3", "node_type": "KSampler", "exception_message": "bad"}, what="comfyui").message
        'Node 3 (KSampler) of the workflow failed at comfyui: bad.'
    """
    kind, words = str(data.get("exception_type", "")), str(data.get("exception_message", ""))
    node = f"Node {_short(data.get('node_id', '?'))} ({_short(data.get('node_type', '?'))})"
    said = _short(words.strip().partition("\n")[0] or kind or "no reason was given", 300).rstrip(".")
    if any(mark in f"{kind} {words}".lower() for mark in _OUT_OF_MEMORY):
        return Unavailable(
            f"{node} of the workflow ran out of memory at {what}.",
            remedy="Ask for a smaller picture, or start ComfyUI with --lowvram.",
            code="out_of_memory",
        )
    return BadResponse(
        f"{node} of the workflow failed at {what}: {said}.",
        remedy="Run the workflow in ComfyUI itself to see why.",
        code="execution_error",
        ambiguous=False,
        detail={"node": data.get("node_id"), "exception_type": kind},
    )


def failure_in(entry: Mapping[str, Any], *, what: str) -> CallError | None:
    """The error that an entry of the history tells of, or `None` when the run came to its end."""
    status = _mapping(entry.get("status"))
    if status.get("status_str") != "error":
        return None
    for message in reversed(list(_pairs(status.get("messages")))):
        if message[0] == "execution_error":
            return failed(message[1], what=what)
        if message[0] == "execution_interrupted":
            return interrupted(what)
    return failed({}, what=what)


def interrupted(what: str) -> CallError:
    """The error of a run that somebody stopped on the server."""
    return BadResponse(
        f"The run was stopped at {what}, by somebody else.",
        remedy="Run it again.",
        code="interrupted",
        ambiguous=False,
    )


def stored(entry: Mapping[str, Any], only: str | None = None) -> list[Stored]:
    """The pictures of a run: those that were saved, or else previews; by node, in the server's order.

    Args:
        entry: The run's entry in the history.
        only: The one node whose pictures count.

    Example:
        >>> image = {"filename": "a.png", "subfolder": "", "type": "output"}
        >>> stored({"outputs": {"9": {"images": [image]}}})
        [Stored(filename='a.png', subfolder='', type='output')]
    """
    found: list[Stored] = []
    outputs = _mapping(entry.get("outputs"))
    for node in sorted(outputs, key=lambda name: (len(name), name)):
        if only is not None and node != only:
            continue
        for image in _mappings(_mapping(outputs[node]).get("images")):
            name = str(image.get("filename", ""))
            if name.lower().endswith(_ENDINGS):
                found.append(Stored(name, str(image.get("subfolder", "")), str(image.get("type", "output"))))
    kept = [one for one in found if one.type == "output"]
    return kept or found


def _pairs(value: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for one in cast("list[Any]", value) if isinstance(value, list) else []:
        if isinstance(one, list | tuple) and len(cast("list[Any]", one)) == 2:
            yield str(one[0]), _mapping(one[1])


def _mappings(value: object) -> Iterator[Mapping[str, Any]]:
    for one in cast("list[Any]", value) if isinstance(value, list) else []:
        yield _mapping(one)


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _short(value: object, most: int = 80) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= most else f"{text[: most - 1]}…"
