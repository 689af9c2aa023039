"""Words from users and models, made safe to show: no control or direction-changing characters."""

from __future__ import annotations

import re
import unicodedata

_LINE_BREAKS = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
#: Control characters but tab and line break; marks that turn the direction of text around; invisible
#: fillers, byte order marks and tags; code points that are no characters.
_UNSEEN = re.compile(
    "[\0-\x08\x0e-\x1f\x7f-\x9f\xad\u180e\u200b\u202a-\u202e\u2060-\u206f\u3164\ufeff\ufff0-\ufffb\ufffe\uffff"
    "\U000e0000-\U000e007f]"
)
_SURROGATES = re.compile("[\ud800-\udfff]")
_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_LANGUAGES = {
    "arabic": "ar", "bengali": "bn", "chinese": "zh", "czech": "cs", "danish": "da", "dutch": "nl", "english": "en",
    "finnish": "fi", "french": "fr", "german": "de", "greek": "el", "hebrew": "he", "hindi": "hi", "hungarian": "hu",
    "indonesian": "id", "italian": "it", "japanese": "ja", "korean": "ko", "norwegian": "no", "persian": "fa",
    "polish": "pl", "portuguese": "pt", "romanian": "ro", "russian": "ru", "spanish": "es", "swedish": "sv",
    "thai": "th", "turkish": "tr", "ukrainian": "uk", "vietnamese": "vi",
}  # fmt: skip
#: What a letter's Unicode name begins with, and the language its script stands for best.
_SCRIPTS = {
    "ARABIC": "ar", "BENGALI": "bn", "CJK": "zh", "CYRILLIC": "ru", "DEVANAGARI": "hi", "GREEK": "el", "HANGUL": "ko",
    "HEBREW": "he", "HIRAGANA": "ja", "KATAKANA": "ja", "THAI": "th",
}  # fmt: skip


def clean(text: str) -> str:
    r"""Keep what can be seen: line breaks become one kind, everything invisible that could mislead goes.

    Example:
        >>> clean("a\u202eb\x1b[31m\r\nc")
        'ab[31m\nc'
    """
    text = _LINE_BREAKS.sub("\n", text)
    if _SURROGATES.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _UNSEEN.sub("", text)


def one_line(text: str) -> str:
    """`clean`, with all white space as single spaces."""
    return " ".join(clean(text).split())


def shorten(text: str, most: int) -> str:
    """`one_line`, cut at a word within `most` characters, with an ellipsis where something was cut.

    Example:
        >>> shorten("How to plant a bean, in five steps", 20)
        'How to plant a bean…'
    """
    text = one_line(text)
    if len(text) <= most:
        return text
    head = text[: most - 1]
    at_word = head.rpartition(" ")[0] if text[most - 1].isalnum() else head
    return f"{(at_word if len(at_word) > most // 2 else head).rstrip(' ,;:.')}…"


def language_of(wanted: str | None, text: str) -> str | None:
    """The language tag (BCP 47) of some text, for screen readers, fonts and hyphenation.

    Args:
        wanted: The language that was asked for: a tag, an English name, or `None`.
        text: The words, whose script says the rest.

    Returns:
        A tag, or `None` when it cannot be told (several languages share the Latin script).

    Example:
        >>> language_of("German", ""), language_of(None, "种豆子"), language_of(None, "Plant a bean")
        ('de', 'zh', None)
    """
    if wanted:
        if (code := _LANGUAGES.get(wanted.strip().lower())) is not None:
            return code
        if _LANGUAGE_TAG.fullmatch(wanted.strip()):
            return wanted.strip()
    counts: dict[str, int] = {}
    for char in text[:2000]:
        if char.isalpha():
            script = unicodedata.name(char, "").partition(" ")[0]
            code = _SCRIPTS.get(script, "")
            # Where one character is a syllable or a word, it weighs as much as some letters.
            counts[code] = counts.get(code, 0) + (3 if code in ("zh", "ja", "ko") else 1)
    # Japanese is written with Chinese characters too, so its own letters decide.
    if counts.get("ja"):
        counts["ja"] += counts.pop("zh", 0)
    best = max(counts, key=counts.__getitem__, default="")
    return best or None


def is_right_to_left(language: str | None) -> bool:
    """Whether a language (BCP 47) is written from right to left."""
    return bool(language) and str(language).lower().split("-")[0] in {
        "ar",
        "dv",
        "fa",
        "he",
        "ps",
        "sd",
        "ug",
        "ur",
        "yi",
    }
