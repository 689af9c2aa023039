"""Yes or no as models write it: booleans, words, words with a remark behind them."""

from __future__ import annotations

import re

from langgraph_interleave.parsing.data import Json

#: Pairs of opposites. A remark that ends in the opposite of its own word takes the word back.
_PAIRS = (
    (("true",), ("false",)),
    (("yes", "y"), ("no", "n")),
    (("accept", "accepted", "approve", "approved"), ("revise", "reject", "rejected", "redo", "retry")),
    (("pass", "passed"), ("fail", "failed", "fails")),
    (("success", "successful", "succeeded"), ("failure", "unsuccessful")),
    (("ok", "okay"), ("wrong",)),
    (("1",), ("0",)),
    (("是", "通过", "成功"), ("否", "不", "不通过", "失败")),
)
_MEANING = {word: (words is pair[0], pair) for pair in _PAIRS for words in pair for word in words}
_NAMED = re.compile(
    r"(?:previous_step_success|success|verdict|decision|answer|result|judge?ment|accepted|passed)\s*[:=：]\s*"
)
_WORD = re.compile(r"(?P<not>not\s+)?(?P<word>[a-z]+|[01](?![\d.])|[\u4e00-\u9fff]+)")
#: A remark is set off from its word; "no problems" and "yes and no" are something else.
_SET_OFF = re.compile(r"\s*(?:[—–:,;.!()\[\]\"'*，。；：！（]|-+\s|\n)")
_HEDGE = re.compile(
    r"(?:but|however|except|although|though|yet|almost|mostly|partly|partially|perhaps|maybe|or|and|if"
    r"|not sure|unsure)\b"
)
_AROUND = " \t\r\n\"'`*_.!,;:()[]{}<>“”‘’—–-，。；：！（）"
_MAX_CHARS = 4_000


def decision_of(value: Json) -> bool | None:
    """Read a yes or a no.

    Returns:
        True for yes, False for no, `None` when it could be either: an unknown word, a word its remark
        takes back ("yes, but …", "true, or false"), a number other than 0 and 1.

    Example:
        >>> [decision_of(v) for v in (True, "True", "yes — the pot is there", "no", "success: true")]
        [True, True, True, False, True]
        >>> [decision_of(v) for v in ("yes and no", "no problems", "partly", 0.5, None)]
        [None, None, None, None, None]
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, int) and value in (0, 1):
        return bool(value)
    if not isinstance(value, str):
        return None
    text = value[:_MAX_CHARS].strip(_AROUND).lower()
    if named := _NAMED.match(text):
        text = text[named.end() :].strip(_AROUND)
    word = _WORD.match(text)
    if word is None or word["word"] not in _MEANING:
        return None
    accepted, pair = _MEANING[word["word"]]
    if word["not"]:
        if not accepted:
            return None
        accepted = False
    rest = text[word.end() :]
    if rest and (not _SET_OFF.match(rest) or _takes_back(rest.strip(_AROUND), pair, accepted)):
        return None
    return accepted


def _takes_back(remark: str, pair: tuple[tuple[str, ...], tuple[str, ...]], accepted: bool) -> bool:
    if _HEDGE.match(remark):
        return True
    opposites = pair[1] if accepted else pair[0]
    for opposite in opposites:
        # "no faults" is a remark; "no" by itself is a second answer.
        if re.search(rf"(?<!\w){opposite}(?=\W*\Z|\s*[,.;:!?/])", remark):
            return True
        if opposite != "no" and re.match(rf"{opposite}(?!\w)", remark):
            return True
    return False
