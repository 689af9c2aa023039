"""Idioms of remarks: what people say of a picture that exists, as the commands that `revise` understands."""

from __future__ import annotations

import re

_POLITE = re.compile(
    r"^(?:(?:please|kindly|ok(?:ay)?|well|so|but|and|also|then|now|just|maybe|perhaps|hm+|yes)\b[\s,:–-]*|no,\s*|"
    r"(?:could|can|would|will)\s+you\s+(?:please\s+)?|let's\s+|"
    r"i(?:(?:'d|\s+would)\s+(?:like|prefer)|\s+(?:want|need|prefer))\s+(?:to\s+have\s+|to\s+see\s+)?(?!to\b)|"
    r"(?:i|you)\s+(?:should|must|could|can|want\s+to|would\s+like\s+to|have\s+to|need\s+to)\s+|"
    r"(?:the|this)\s+(?:picture|image|drawing|sketch|scene|step)\s+(?:should|must|shall|has\s+to)\s+(?=show)|"
    r"(?:in|of)\s+(?:the|this)\s+(?:picture|image|drawing|scene)[\s,:]+)+",
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"[\s,]*\b(?:please|instead|thanks|thank\s+you|though|now|in\s+(?:the|this)\s+(?:picture|image|drawing))\s*$",
    re.IGNORECASE,
)
_BE = r"(?:should|must|shall|has\s+to|have\s+to|needs?\s+to|ought\s+to)\s+(?:really\s+|clearly\s+|all\s+|both\s+)?be"
_BIT = r"(?:a\s+(?:little|bit|lot)\s+|much\s+|far\s+|way\s+|slightly\s+|even\s+|somewhat\s+|really\s+)*"
_MANY = r"(?:one|two|three|four|five|six|seven|eight|nine|\d+)"
_COLOR = (
    r"(?:red|orange|yellow|green|turquoise|blue|purple|pink|brown|black|gr[ae]y|white|violet|golden|silver|terracotta)"
)
_PLACE = r"(?:there|here|in\s+it|visible|to\s+be\s+seen|in\s+the\s+(?:picture|image|drawing))"

#: Pattern → command. The first that fits a whole clause counts.
_IDIOMS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(rf"^{pattern}$", re.IGNORECASE), said)
    for pattern, said in (
        # How dark it is.
        ((rf"(?:(?:make|set|turn|let|have)\s+(?:it|everything|all(?:\s+of\s+it)?|the\s+(?:whole\s+)?(?:picture|scene|"
         rf"image|sky|light(?:ing)?|background))\s+(?:be\s+)?)?(?:(?:it|this|everything)\s+(?:is|{_BE})\s+)?{_BIT}(?:at\s+|by\s+|in\s+the\s+)?"
         r"(?:night(?:-?\s?time)?|darker|dark|dusk|evening|nightfall|gloomier)"), "set it at night"),
        ((rf"(?:it|this|the\s+(?:picture|scene|image|light|background))\s+(?:is|looks)\s+{_BIT}too\s+"
         r"(?:bright|light)"), "set it at night"),
        ((rf"(?:(?:make|set|turn|let|have)\s+(?:it|everything|the\s+(?:picture|scene|image|sky|light(?:ing)?|background))\s+(?:be\s+)?)?"
         rf"(?:(?:it|this)\s+(?:is|{_BE})\s+)?{_BIT}(?:at\s+|by\s+|in\s+(?:the\s+|broad\s+)?)?"
         r"(?:day(?:-?\s?(?:time|light))?|brighter|lighter|morning|noon|bright\s+day)"), "set it by day"),
        (rf"(?:it|this|the\s+(?:picture|scene|image))\s+(?:is|looks)\s+{_BIT}too\s+dark", "set it by day"),
        # How large.
        (rf"(the\s+.+?)(?:\s+(?:is|are|looks?|seems?))?\s+{_BIT}too\s+(?:small|little|tiny|short|thin)", r"enlarge \1"),
        (rf"(the\s+.+?)(?:\s+(?:is|are|looks?|seems?))?\s+{_BIT}too\s+(?:big|large|tall|huge|great)", r"shrink \1"),
        (rf"(?:make\s+)?(the\s+.+?)\s+(?:(?:{_BE}|is|are)\s+)?{_BIT}(?:bigger|larger|taller|greater)", r"enlarge \1"),
        (rf"(?:make\s+)?(the\s+.+?)\s+(?:(?:{_BE}|is|are)\s+)?{_BIT}(?:smaller|tinier|shorter)", r"shrink \1"),
        (rf"{_BIT}(?:an?\s+)?(?:bigger|larger|taller)\s+(.+)", r"enlarge the \1"),
        (rf"{_BIT}(?:an?\s+)?smaller\s+(.+)", r"shrink the \1"),
        # What is not there, and what should not be.
        ((rf"(?:the|an?)\s+(.+?)\s+(?:(?:is|are)\s+(?:missing|lacking|absent|gone|lost)|(?:is|are)\s+not\s+{_PLACE}|"
         rf"{_BE}\s+{_PLACE})"), r"bring in the \1"),
        ((r"(?:where\s+(?:is|are|did)|i\s+miss|i\s+(?:can't|cannot|do\s+not|don't)\s+see|you\s+forgot|it\s+lacks|"
         r"there\s+(?:is|are)\s+no)\s+"
         r"(?:the|an?)\s+(.+?)(?:\s+go)?"), r"bring in the \1"),
        ((rf"(?:the|an?)\s+(.+?)\s+(?:(?:should|must|shall)\s*(?:not|n't)\s+be\s+{_PLACE}|(?:should|must)\s+"
         r"(?:go|disappear|vanish|be\s+gone)|does\s*(?:not|n't)\s+belong(?:\s+(?:here|there|in\s+it))?|has\s+to\s+go)"),
         r"remove the \1"),
        ((r"(?:(?:there\s+)?(?:should|must|shall)\s*(?:not|n't)\s+be|i\s+(?:don't|do\s+not)\s+want(?:\s+to\s+see)?|"
         r"(?:why\s+is\s+there|nobody\s+asked\s+for|who\s+asked\s+for|i\s+(?:didn't|did\s+not)\s+ask\s+for|"
         r"(?:don't|do\s+not)\s+(?:show|draw)))\s+(?:the\s+|an?\s+|any\s+)?(.+)"), r"remove the \1"),
        (r"too\s+many\s+(.+)|there\s+are\s+too\s+many\s+(.+)", r"remove one of the \1\2"),
        (r"too\s+few\s+(.+)|there\s+are\s+too\s+few\s+(.+)|(?:there\s+are\s+)?not\s+enough\s+(.+)",
         r"add one more \1\2\3"),
        (r"(?:(?:show|draw|keep|leave)\s+)?(?:only|just|nothing\s+but)\s+((?:the|my)\s+.+)", r"only \1"),
        (r"([\w\s-]+):\s*(\d)", r"\2 \1"),
        # One for another.
        ((rf"(?:i\s+see\s+|there\s+(?:is|are)\s+)?({_MANY}\s+.+?)[\s,]+(?:(?:and\s+)?not|instead\s+of|rather\s+than)\s+"
         rf"(?:just\s+|only\s+)?{_MANY}(?:\s+.+)?"), r"\1"),
        (rf"((?:the|an?)\s+.+?\s+{_COLOR}|{_COLOR})[\s,]+(?:(?:and\s+)?not|instead\s+of|rather\s+than)\s+{_COLOR}",
         r"\1"),
        ((r"(?:use\s+|draw\s+|show\s+)?(an?\s+.+?)[\s,]+(?:instead\s+of|rather\s+than|in\s+place\s+of|(?:and\s+)?not)\s+"
         r"(?:the|an?)\s+(.+)"), r"replace the \2 with \1"),
        (r"(?:(?:it|this|that)\s+(?:should|must)\s+be\s+)?(?:not|no)\s+(?:the|an?)\s+(.+?)[\s,]+but\s+(an?\s+.+)",
         r"replace the \1 with \2"),
        (rf"the\s+(?:background|backdrop|setting|place|surroundings)\s+(?:{_BE}|is)\s+(.+)", r"set it \1"),
        (rf"(the\s+.+?)\s+{_BE}\s+((?:an?)\s+(?!bit\b|little\b|lot\b)\S.*)", r"replace \1 with \2"),
        # What something is like.
        ((r"(?:make|change|set|turn)?\s*the\s+colou?rs?\s+of\s+(the\s+.+?)\s+"
         rf"(?:to\s+|into\s+|{_BE}\s+|is\s+|are\s+)?({_COLOR})"), r"make \1 \2"),
        (rf"(the\s+.+?)\s+{_BE}\s+(?:colou?red\s+|painted\s+)?(.+)", r"\1 is \2"),
        (rf"(?:it|there)\s+(?:is|{_BE})\s+(rain|snow|storm)(?:s|ing|y)?", r"make it \1"),
        (r"(?:let|have|make)\s+it\s+(rain|snow|storm)(?:s|ing|y)?", r"make it \1"),
        (rf"there\s+{_BE}\s+(.+)", r"there should be \1"),
        (rf"it\s+{_BE}\s+(.+)", r"make it \1"),
        (r"(?:can|could|may|let|have|make)\s+(the\s+.+?)\s+(?:wear|carry|have)\s+(.+)", r"give \1 \2"),
        ((r"(the\s+.+?)\s+(?:(?:should|must|shall|has\s+to|needs?\s+to)\s+wear|wears?|needs?|is\s+wearing|has)\s+"
         r"(?!to\b)(an?\s.+)"), r"give \1 \2"),
        (r"(the\s+.+?)\s+(?:should|must|shall|has\s+to|have\s+to|needs?\s+to|ought\s+to)\s+(?!be\b|not\b|have\b)(.+)",
         r"\1 \2"),
        (r"(?:can|could|may|let|have|make)\s+(the\s+.+?)\s+(?:wear|carry|have)\s+(.+)", r"give \1 \2"),
        ((r"(the\s+.+?)\s+(?:(?:should|must|shall|has\s+to|needs?\s+to)\s+wear|wears?|needs?|is\s+wearing|has)\s+"
         r"(?!to\b)(an?\s.+)"), r"give \1 \2"),
        (r"(the\s+.+?)\s+(?:should|must|shall|has\s+to|needs?\s+to|ought\s+to)\s+have\s+(.+)", r"give \1 \2"),
        (r"(?:(?:set|put|move|have|let)\s+(?:it|everything|this)\s+)?(?:take\s+place|happen|play|be)\s+(.+)",
         r"set it \1"),
    )
)  # fmt: skip
#: An idiom may need another: "the pot must be blue, not red".
_ROUNDS = 3
#: A longer clause is no idiom; characters.
_LONGEST = 300


def without_courtesies(words: str) -> str:
    """Words without "please", "could you", "I would like" and the like around them.

    Example:
        >>> without_courtesies("Could you please make it blue, thanks")
        'make it blue'
    """
    return _THANKS.sub("", _POLITE.sub("", words, count=1))


def command_of(clause: str) -> str:
    """A clause of a remark as a command or a plain statement; as it is, without courtesies, where no idiom fits.

    Example:
        >>> command_of("Please, the ball is much too small"), command_of("two birds, not one")
        ('enlarge the ball', 'two birds')
        >>> command_of("I'd like a cat instead of the dog"), command_of("make it night-time")
        ('replace the dog with a cat', 'set it at night')
    """
    words = re.sub(r"\s+", " ", clause).strip(" .,:;!?–-").replace("’", "'")
    words = re.sub(r"(?<=\w)n't\b", " not", words)
    if len(words) > _LONGEST:
        return words
    for _ in range(_ROUNDS):
        before = words
        words = without_courtesies(words)
        for pattern, said in _IDIOMS:
            match = pattern.match(words)
            if match is not None:
                words = " ".join(match.expand(said).split())
                break
        if words == before:
            break
    return words
