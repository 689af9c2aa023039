"""Workflows of ComfyUI in its API format, with placeholders for what changes from picture to picture."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from langgraph_interleave.artifacts import canonical_json
from langgraph_interleave.errors import ConfigError, InvalidRequest

#: What a workflow may leave open, beside `reference_0`, `reference_1`, …
PLACEHOLDERS = ("height", "n", "negative_prompt", "prompt", "seed", "width")
_PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_REFERENCE = re.compile(r"reference_(\d+)")
_MOST_REFERENCES = 16
_LARGEST_FILE = 8 * 1024 * 1024
_HOW = 'Export it in ComfyUI with "Export (API)".'

Node = dict[str, Any]
#: The inputs a class of nodes cannot do without; `None` for one nobody knows.
Required = Callable[[str], frozenset[str] | None]


@dataclass(frozen=True, eq=False)
class Workflow:
    """A workflow, read once and filled in for each picture.

    Attributes:
        nodes: The nodes by id, as exported.
        holes: The placeholders in it.
        references: How many references it takes.
        digest: Of its nodes; what people wrote beside them (titles) is not part of it.
    """

    nodes: Mapping[str, Node]
    holes: frozenset[str]
    references: int
    digest: str

    @classmethod
    def read(cls, source: Mapping[str, Any] | str | Path) -> Workflow:
        """Read a workflow.

        Args:
            source: The object, or the path of a JSON file that holds it.

        Raises:
            ConfigError: It cannot be read, is not in the API format, has no `{{prompt}}`, or a placeholder
                nobody knows.

        Example:
            >>> node = {"class_type": "CLIPTextEncode", "inputs": {"text": "{{prompt}}, ink", "clip": ["1", 0]}}
            >>> sorted(Workflow.read({"2": node}).holes)
            ['prompt']
        """
        what = "The workflow" if isinstance(source, Mapping) else f"The workflow {Path(source).name}"
        nodes = _nodes(source if isinstance(source, Mapping) else _file(Path(source), what), what)
        holes = frozenset(hole for node in nodes.values() for hole in _holes(node["inputs"]))
        numbers = sorted(int(match[1]) for hole in holes if (match := _REFERENCE.fullmatch(hole)))
        unknown = sorted(hole for hole in holes if hole not in PLACEHOLDERS and not _REFERENCE.fullmatch(hole))
        known = ", ".join(f"{{{{{name}}}}}" for name in (*PLACEHOLDERS, "reference_0"))
        if unknown:
            raise ConfigError(f"{what} has the placeholder {{{{{unknown[0]}}}}}.", remedy=f"It may have {known}.")
        if "prompt" not in holes:
            raise ConfigError(
                f"{what} has no place for the prompt.",
                remedy=f"Write {{{{prompt}}}} into its text input. Others: {known}.",
            )
        if numbers != list(range(len(numbers))) or len(numbers) > _MOST_REFERENCES:
            raise ConfigError(
                f"{what} numbers its references {', '.join(map(str, numbers))}.",
                remedy=f"Number them from 0 without a gap, at most {_MOST_REFERENCES}.",
            )
        sent = {name: {"class_type": node["class_type"], "inputs": node["inputs"]} for name, node in nodes.items()}
        digest = hashlib.sha256(canonical_json(sent)).hexdigest()
        return cls(nodes, holes, len(numbers), digest)

    def classes(self) -> tuple[str, ...]:
        """The classes of its nodes."""
        return tuple(sorted({node["class_type"] for node in self.nodes.values()}))

    def filled(self, values: Mapping[str, Any], required: Required) -> dict[str, Node]:
        """The workflow with values in its placeholders: kept as they are where they are the whole input.

        References that are not among the values are left out, with the nodes that cannot do without them.

        Args:
            values: By placeholder; only references may be missing.
            required: What a class of nodes needs.

        Raises:
            InvalidRequest: What is left without those references has no end.

        Example:
            >>> node = {"class_type": "CLIPTextEncode", "inputs": {"text": "{{prompt}}, {{seed}}", "n": "{{seed}}"}}
            >>> Workflow.read({"2": node}).filled({"prompt": "a {{seed}}", "seed": 7}, lambda _: None)["2"]["inputs"]
            {'text': 'a {{seed}}, 7', 'n': 7}
        """
        open_ones = {hole for hole in self.holes if hole not in values}
        kept = self._without(open_ones, required) if open_ones else {name: dict(n) for name, n in self.nodes.items()}
        return {name: {**node, "inputs": _filled(node["inputs"], values)} for name, node in kept.items()}

    def _without(self, open_ones: set[str], required: Required) -> dict[str, Node]:
        # What takes something, and gives it to nobody: there the pictures come out.
        taken = set().union(*(_links(node) for node in self.nodes.values()))
        ends = {name for name, node in self.nodes.items() if name not in taken and _links(node)}
        kept = {name: {**node, "inputs": dict(node["inputs"])} for name, node in self.nodes.items()}
        gone = {name for name, node in kept.items() if open_ones & set(_holes(node["inputs"]))}
        while gone:
            for name in gone:
                del kept[name]
            lost, gone = gone, set[str]()
            for name, node in kept.items():
                inputs: dict[str, Any] = node["inputs"]
                cut = {key for key, value in inputs.items() if _is_link(value) and value[0] in lost}
                needed = required(str(node["class_type"])) if cut else frozenset[str]()
                if needed is None or cut & needed:
                    gone.add(name)
                else:
                    node["inputs"] = {key: value for key, value in inputs.items() if key not in cut}
        if not ends & set(kept):
            have = self.references - len(open_ones)
            raise InvalidRequest(
                f"This workflow draws from {self.references} references, and {have} were given.",
                remedy="Give as many, or another workflow for fewer.",
            )
        return kept


def _file(path: Path, what: str) -> Mapping[str, Any]:
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise ConfigError(f"{what} is larger than 8 MB.", remedy=_HOW)
        found: object = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(
            f"{what} cannot be read: {error.strerror or error}.", remedy=f"Check the path {path}."
        ) from error
    except ValueError as error:
        raise ConfigError(f"{what} is no JSON: {error}.", remedy=_HOW) from error
    if not isinstance(found, dict):
        raise ConfigError(f"{what} is no JSON object.", remedy=_HOW)
    return cast("dict[str, Any]", found)


def _nodes(found: Mapping[str, Any], what: str) -> dict[str, Node]:
    # What the API is sent, wrapped as it is sent.
    inner = found.get("prompt")
    found = cast("Mapping[str, Any]", inner) if isinstance(inner, Mapping) and "class_type" not in inner else found
    if isinstance(found.get("nodes"), list):
        raise ConfigError(f"{what} is in the editor's format, not in the API's.", remedy=_HOW)
    for name, node in found.items():
        if not isinstance(node, Mapping) or not isinstance(node.get("class_type"), str):
            raise ConfigError(f"{what} is no workflow: {str(name)[:40]!r} is no node.", remedy=_HOW)
        if not isinstance(node.get("inputs", {}), Mapping):
            raise ConfigError(f"{what}: node {str(name)[:40]!r} has no inputs.", remedy=_HOW)
    if not found:
        raise ConfigError(f"{what} has no nodes.", remedy=_HOW)
    # A copy: what is changed afterwards outside is not changed here.
    copied: dict[str, Any] = json.loads(json.dumps(dict(found)))
    return {name: {**node, "inputs": node.get("inputs", {})} for name, node in copied.items()}


def _holes(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield from (match[1] for match in _PLACEHOLDER.finditer(value))
    elif isinstance(value, Mapping):
        for inner in cast("Mapping[str, object]", value).values():
            yield from _holes(inner)
    elif isinstance(value, list):
        for inner in cast("list[object]", value):
            yield from _holes(inner)


def _filled(value: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        whole = _PLACEHOLDER.fullmatch(value.strip())
        return values[whole[1]] if whole else _PLACEHOLDER.sub(lambda match: str(values[match[1]]), value)
    if isinstance(value, Mapping):
        return {key: _filled(inner, values) for key, inner in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list):
        return [_filled(inner, values) for inner in cast("list[Any]", value)]
    return value


def _is_link(value: object) -> bool:
    if not isinstance(value, list) or len(cast("list[object]", value)) != 2:
        return False
    node, output = cast("list[object]", value)
    return isinstance(node, str) and isinstance(output, int)


def _links(node: Node) -> set[str]:
    return {value[0] for value in node["inputs"].values() if _is_link(value)}
