"""Instructions and prompts: a change in words, and the scene it leads to, in one text."""

from __future__ import annotations

from langgraph_interleave.world.grammar.lexicon import lexicon
from langgraph_interleave.world.grammar.prose import PHOTO, describe
from langgraph_interleave.world.grammar.reader import read
from langgraph_interleave.world.grammar.tokens import Token, tokenize
from langgraph_interleave.world.scene import Scene

#: What stands before the scene in an instruction.
SHOWS = "The picture shows"
#: What an edit's prompt says of the rest.
KEEP = "Keep everything else as it is."


def instruction(change: str, scene: Scene) -> str:
    """What a step must achieve: the change, and all that the picture must show then.

    Args:
        change: The change in words, or an empty text.
        scene: What the picture must show.

    Example:
        >>> from langgraph_interleave.world.scene import Scene, Thing
        >>> instruction("Add a ball.", Scene(backdrop="meadow", things=(Thing(id="ball", kind="ball"),)))
        'Add a ball. The picture shows, on a meadow: a ball.'
    """
    shown = describe(scene)
    text = f"{SHOWS}, {shown[0].lower()}{shown[1:]}"
    return f"{sentence(change)} {text}" if change.strip() else text


def prompt(change: str, scene: Scene) -> str:
    """The text for a backend: of a first picture its scene, of an edit the change before it.

    Args:
        change: The change in words; empty for a picture drawn from nothing.
        scene: What the picture must show.
    """
    if not change.strip():
        return describe(scene)
    return instruction(f"{sentence(change)} {KEEP}", scene)


def target(text: str) -> Scene:
    """The scene an instruction or a prompt leads to.

    Takes the last sentence in canonical form ("On a meadow: a red ball."), wherever it stands and
    whatever else the text says; a text without one is read as a whole.

    Example:
        >>> target("Paint it. The picture shows, on a meadow: a red ball. Exactly one ball!").things[0].color
        'red'
    """
    tokens = tokenize(text)
    found = [index for index in range(len(tokens)) if _scene_begins(tokens, index)]
    if not found:
        return read(text).scene
    start = found[-1]
    end = _sentence_end(tokens, start)
    if [token.norm for token in tokens[end : end + 2]] == ["the", "words"]:
        end = _sentence_end(tokens, end)
    return read(text[tokens[start].start : tokens[end - 1].end], language="en").scene


def sentence(words: str) -> str:
    """Words as a sentence: a capital letter first, a full stop last.

    Example:
        >>> sentence("add a ball")
        'Add a ball.'
    """
    words = words.strip()
    if not words:
        return ""
    stop = "。" if "\u3040" <= words[-1] <= "\u9fff" else "."
    return words[0].upper() + words[1:] + ("" if words[-1] in ".!?。！？…" else stop)


def _scene_begins(tokens: list[Token], index: int) -> bool:
    """Whether a canonical backdrop begins here: at the start of a sentence or after `SHOWS`."""
    before = [token.norm for token in tokens[max(index - 4, 0) : index]]
    if before and before[-1] not in (".", "!", "?", "\n", ":") and before != ["the", "picture", "shows", ","]:
        return False
    for match in lexicon().matches(tokens, index):
        if match.entry.role != "backdrop" or not match.entry.bare:
            continue
        end = index + match.length
        rest = [token.norm for token in tokens[end : end + 8]]
        if rest[:1] == [":"] or rest == [",", *PHOTO.split(" "), ":"]:
            return True
    return False


def _sentence_end(tokens: list[Token], start: int) -> int:
    for index in range(start, len(tokens)):
        if tokens[index].norm == "." and tokens[index].shape == "mark":
            return index + 1
    return len(tokens)
