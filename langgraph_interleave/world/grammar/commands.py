"""Commands: where one ends in a text, and which action it asks for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from langgraph_interleave.world.grammar.actions import COMMANDS, Action, verb_states
from langgraph_interleave.world.grammar.tokens import Token

_STOPS = frozenset((".", ";", "!", "?", "\n"))
#: Words before a command that say nothing of it.
LEADS = frozenset(
    ("please", "now", "then", "also", "and", "next", "finally", "just", "could", "can", "you", "but", "let's", "so",
     "only", "we", "i", "you'll", "first", "after", "that", "afterwards", "to", ",",
     "wait", "until", "till", "when", "once", "as", "soon")
)  # fmt: skip


def clauses(tokens: Sequence[Token]) -> list[list[Token]]:
    """The commands of a text, one list of tokens each.

    Example:
        >>> from langgraph_interleave.world.grammar.tokens import tokenize
        >>> [" ".join(t.norm for t in c) for c in clauses(tokenize("Add a cat and a dog, then paint the dog red."))]
        ['add a cat and a dog', 'paint the dog red']
    """
    found: list[list[Token]] = []
    part: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if (token.shape == "mark" and token.norm in _STOPS) or (
            token.norm in (",", "and", "then", "but", "，")
            and token.shape != "quote"
            and _command_follows(tokens, index)
        ):
            found.append(part)
            part = []
        else:
            part.append(token)
        index += 1
    return [part for part in (*found, part) if part]


def _command_follows(tokens: Sequence[Token], index: int) -> bool:
    index += 1
    while index < len(tokens) and tokens[index].norm in LEADS:
        index += 1
    stop = next((at for at in range(index, len(tokens)) if tokens[at].norm in _STOPS), len(tokens))
    rest = particle_first(list(tokens[index:stop]))
    return command_at(rest, 0) is not None or verb_at(rest, 0) is not None


_PARTICLES = frozenset(("on", "off", "out", "up", "away", "down"))


def particle_first(tokens: list[Token]) -> list[Token]:
    """A command with its particle beside its verb: "blow it out" as "blow out it".

    Example:
        >>> from langgraph_interleave.world.grammar.tokens import tokenize
        >>> " ".join(token.norm for token in particle_first(tokenize("turn the lamp off")))
        'turn off the lamp'
    """
    if len(tokens) < 3 or tokens[-1].norm not in _PARTICLES:
        return tokens
    pair = (tokens[0].norm, tokens[-1].norm)
    return [tokens[0], tokens[-1], *tokens[1:-1]] if pair in verbs() or pair in commands() else tokens


@cache
def commands() -> dict[tuple[str, ...], Action]:
    """Words that begin a command → its action."""
    return {tuple(words.split(" ")): action for action, said in COMMANDS.items() for words in said}


@cache
def verbs() -> dict[tuple[str, ...], tuple[str, ...]]:
    """Verb, in any form → the states it may lead to."""
    return {tuple(words.split(" ")): states for words, states in verb_states().items()}


def command_at(tokens: Sequence[Token], index: int) -> tuple[Action, int] | None:
    """The action that a command beginning here asks for, and how many words name it."""
    for length in range(5, 0, -1):
        action = commands().get(tuple(token.norm for token in tokens[index : index + length]))
        if action is not None and len(tokens) >= index + length:
            return action, length
    return None


def verb_at(tokens: Sequence[Token], index: int) -> tuple[tuple[str, ...], int] | None:
    """The states that a verb beginning here leads to, and how many words it has; it needs an object after it."""
    for length in (2, 1):
        states = verbs().get(tuple(token.norm for token in tokens[index : index + length]))
        if states is not None and index + length < len(tokens):
            return states, length
    return None
