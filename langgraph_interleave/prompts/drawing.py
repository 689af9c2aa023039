"""The words a backend is given: the step's prompt, what came before it where it starts again, and the style."""

from __future__ import annotations

from dataclasses import dataclass

from langgraph_interleave.types import StyleGuide

#: Begins what is appended to every prompt; what follows it in a prompt is ours and is written anew.
STYLE = "Style of the whole sequence: "

#: Characters that are counted as one token where nobody counts tokens; prompts have more to a token.
_PER_TOKEN = 3
_LABELS = (
    ("look", ""),
    ("characters", "characters: "),
    ("palette", "palette: "),
    ("keep", "keep the same: "),
)
_AGAIN = "Make all of these changes to the first picture, in order, and show only the result of the last:"
_FROM_FIRST = "Start again from the first picture."


def styled_prompt(prompt: str, style: StyleGuide, max_tokens: int | None = None) -> str:
    r"""A prompt with the style guide at its end, once.

    Args:
        prompt: The prompt; a style that was appended to it before is replaced.
        style: What the sequence shares; nothing is appended where nothing was fixed.
        max_tokens: The longest prompt the backend reads. Of the style, whole parts are left out until it
            fits into what the prompt leaves, or into a third; the look is kept longest.

    Example:
        >>> styled_prompt("a pot", StyleGuide(look="ink drawing", keep="the table"))
        'a pot\n\nStyle of the whole sequence: ink drawing; keep the same: the table.'
        >>> styled_prompt(_, StyleGuide())
        'a pot'
    """
    prompt = unstyled_prompt(prompt)
    parts = [f"{label}{value}" for name, label in _LABELS if (value := _said(getattr(style, name)))]
    room = None
    if max_tokens is not None:
        room = max(max_tokens * _PER_TOKEN - len(prompt), max_tokens * _PER_TOKEN // 3) - len(STYLE) - 3
    while parts and room is not None and len("; ".join(parts)) > room:
        parts.pop()
    return f"{prompt}\n\n{STYLE}{'; '.join(parts)}." if parts else prompt


def unstyled_prompt(prompt: str) -> str:
    r"""A prompt without the style at its end.

    Example:
        >>> unstyled_prompt("a pot\n\nStyle of the whole sequence: ink.")
        'a pot'
    """
    head, found, _ = prompt.partition(f"\n\n{STYLE}")
    if found:
        return head
    head, found, _ = prompt.partition(f"\n\n{STYLE}")
    if found:
        return head
    return prompt.partition(STYLE)[0].rstrip() if STYLE in prompt else prompt


def merged_prompt(earlier: tuple[str, ...], prompt: str) -> str:
    """One prompt for all changes since the first picture.

    Example:
        >>> print(merged_prompt(("fill the pot.",), "plant a bean"))
        Make all of these changes to the first picture, in order, and show only the result of the last:
        1. fill the pot.
        2. plant a bean
    """
    lines = [f"{number}. {_one_line(words)}" for number, words in enumerate((*earlier, prompt), 1)]
    return "\n".join((_AGAIN, *lines))


@dataclass(frozen=True, slots=True)
class Wording:
    """What is said around a prompt, the same at every attempt of a step.

    Attributes:
        style: Appended; `None` for nothing.
        again: Prompts of the changes to ask for once more, oldest first.
        from_first: The picture is drawn from the first of its chain, though `again` cannot be said:
            the step's prompt then stands for itself.
        max_tokens: The longest prompt the backend reads, where it is known.
    """

    style: StyleGuide | None = None
    again: tuple[str, ...] = ()
    from_first: bool = False
    max_tokens: int | None = None

    def text(self, prompt: str) -> str:
        """The whole text for the backend.

        Example:
            >>> Wording().text("a pot")
            'a pot'
        """
        said = prompt
        if self.again or self.from_first:
            said = merged_prompt(self.again, prompt)
            if not self.again or (self.max_tokens is not None and len(said) > self.max_tokens * _PER_TOKEN):
                said = f"{_FROM_FIRST} {prompt}"
        return said if self.style is None else styled_prompt(said, self.style, self.max_tokens)


def _said(text: str) -> str:
    return _one_line(text).rstrip(".;, ")


def _one_line(text: str) -> str:
    return " ".join(text.split())
