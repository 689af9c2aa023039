"""Sayings: how people ask for changes of a plan. Data; `MARK` stands where they named steps."""

from __future__ import annotations

import re

from langgraph_interleave.world.changing.named import MARK
from langgraph_interleave.world.palette import COLORS


def _all(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


_ONE = r"(?:step|picture|image|panel|frame|scene|page|drawing|illustration|slide|schritt|bild)s?"
_MARKS = rf"{MARK}(?:\s*(?:,|and|&|und)\s*{MARK})*"
_N = r"(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten)"
_SHOULD = r"(?:should|must|shall|has\s+to|needs\s+to|can|could)"
_TAIL = r"(?:\s+(?:completely|entirely|altogether|again|too|as\s+well|out|away))*"

#: "Add a step after 2: …"; `called` in "add a last step", `where` in "after step 2, add …".
INSERTED = _all(
    rf"^(?:(?P<where>after|before|between)\s+{_MARKS}\s*,?\s*(?:please\s+)?(?:add|insert|put|include|"
    rf"there\s+{_SHOULD}\s+be|comes?)\s*(?:(?:(?:an?|another|one(?:\s+more)?)\s+)?(?:(?:new|further|extra|additional)\s+)*"
    rf"{_ONE}\b)?(?P<tail2>)|"
    rf"(?:add|insert|put\s+in|include|append|squeeze\s+in|there\s+{_SHOULD}\s+be|create|we\s+need|füge|加)\s*"
    rf"(?:(?:(?:an?|another|one(?:\s+more)?|einen|ein|一个?)\s*)?(?:(?:new|further|extra|additional|intermediate|more|"
    rf"second|weiteren?|neuen?)\s+)*(?:{_ONE}\b|步骤|(?:an?\s+)(?P<called>{MARK}))|(?=(?:after|before|between)\s+{MARK})))"
    r"(?P<tail>.*)$"
)
AFTER_PLACE = _all(
    rf"\b(?:(?:right\s+|directly\s+)?(?:after|behind|following|before|in\s+front\s+of|between|nach|vor)\s+"
    rf"(?:(?:the\s+)?{MARK}(?:\s*(?:,|and|&)\s*{MARK})?|{_N}\b(?:\s*(?:and|&)\s*{_N}\b)?)|"
    r"(?:at|to|in)\s+(?:the\s+)?(?:very\s+)?(?:end|beginning|start|front)\b|\b(?:first|last)\s*$)"
)
#: What stands before the content of a new step.
CONTENT = _all(
    r"^(?:,\s*)?(?:(?:where|in\s+which|that\s+shows?|which\s+shows?|showing|shows?|with|of|about|saying|there|so\s+that)\b\s*)"
)
_REFERRED = rf"(?:{MARK}(?:\s*(?:,|and|&)\s*{MARK})?|(?:number\s+)?(?P<n>{_N})(?:\s*(?:and|&)\s*{_N})?)"
_NEAR = r"(?:right\s+|directly\s+|just\s+|to\s+)*"
PLACES = tuple(
    (_all(pattern), meaning)
    for pattern, meaning in (
        (r"(?:to\s+|at\s+|in\s+)?(?:the\s+)?(?:very\s+)?(?:end|back|bottom|last)(?:\s+(?:place|position))?", "end"),
        (r"(?:to\s+|at\s+|in\s+)?(?:the\s+)?(?:very\s+)?(?:beginning|start|front|top|first)(?:\s+(?:place|position))?",
         "start"),
        (r"(?:one\s+)?(?:up|earlier|forward)(?:\s+by\s+one)?(?:\s+(?:one\s+)?(?:place|position))?", "up"),
        (r"(?:one\s+)?(?:down|later|back(?:ward)?)(?:\s+by\s+one)?(?:\s+(?:one\s+)?(?:place|position))?", "down"),
        (rf"{_NEAR}(?:after|behind|following|nach)\s+(?:the\s+)?{_REFERRED}", "after"),
        (rf"{_NEAR}(?:before|in\s+front\s+of|ahead\s+of|vor)\s+(?:the\s+)?{_REFERRED}", "before"),
        (rf"(?:in\s+)?between\s+(?:the\s+)?{_REFERRED}", "between"),
        (rf"(?:to\s+|into\s+|at\s+|on\s+)?(?:be\s+)?(?:the\s+)?(?:position|place|number|spot)?\s*{_REFERRED}", "at"),
    )
)  # fmt: skip
MOVED = _all(
    rf"^(?:(?:move|put|bring|shift|place|take)\s+{MARK}\s+(?P<tail>.+)|"
    rf"{MARK}\s+(?:(?:{_SHOULD}\s+)?(?:come|go|be\s+moved|move)|comes|goes)\s+(?P<tail2>.+))$"
)
SWAPPED = _all(
    rf"^(?:swap|exchange|switch|interchange|(?:reverse|change)\s+the\s+order\s+of)\s+{MARK}"
    rf"(?:\s*(?:and|with|,|&|for)\s*{MARK})?(?:\s+(?:around|round|over))?$"
)
REVERSED = _all(
    rf"^(?:reverse|invert|turn\s+around)\s+(?:{MARK}|(?:the\s+)?(?:order|sequence|steps|pictures|whole\s+thing)|it|"
    rf"everything)(?:\s+of\s+{MARK})?$|^in\s+(?:the\s+)?reverse(?:\s+order)?$"
)
DELETED = (
    _all(
        r"^(?:delete|remove|drop|leave\s+out|take\s+out|skip|get\s+rid\s+of|omit|cut(?:\s+out)?|erase|strike|"
        rf"throw\s+(?:out|away)|without|no|lösche|entferne|streiche|supprime|elimina|删除|删掉|去掉)\s*"
        rf"(?:just\s+|only\s+)?{_MARKS}{_TAIL}$"
    ),
    _all(
        rf"^{_MARKS}\s+(?:(?:is|are)\s+(?:not\s+(?:needed|necessary)|superfluous|unnecessary|redundant|too\s+much)|"
        rf"{_SHOULD}\s+(?:go|be\s+(?:deleted|removed|dropped|left\s+out|skipped)))$"
    ),
    _all(rf"^(?:we|i|you)\s+(?:do\s+not|don't)\s+need\s+{_MARKS}$"),
)
_AGAIN = r"(?:again|once\s+more|anew|afresh|over(?:\s+again)?|another\s+time|from\s+scratch|neu|noch\s+einmal)"
_ANY = rf"(?:{_MARKS}|everything|it\s+all|all(?:\s+of\s+(?:it|them))?|it|this|them)"
_REDO = r"(?:redo|re-do|redraw|re-draw|repeat|regenerate|repaint|retry|do\s+over)"
REDONE = _all(
    rf"^(?:i\s+(?:do\s+not|don't)\s+like\s+{_MARKS}(?:\s+(?:at\s+all|very\s+much))?|{_REDO}\s+{_ANY}(?:\s+{_AGAIN})?(?:\s+(?:differently|as\s+it\s+is))?|"
    rf"(?:draw|paint|make|try|do|sketch|show|zeichne)\s+{_ANY}\s+{_AGAIN}|{MARK}\s*,?\s*{_AGAIN}|"
    rf"(?:another|an?\s+(?:new|different|other)|one\s+more)\s+(?:version|attempt|try|take|go|picture|drawing|variant)\s+"
    rf"(?:of|for|at)\s+{_MARKS}|try\s+{_MARKS}\s+{_AGAIN}|{_AGAIN})$"
)
#: "Redo step 2 at night".
REDONE_SO = _all(
    rf"^{_REDO}\s+{_MARKS}\s*(?:,|:|\bso\s+that\b|\bbut\b|\band\b|\bas\b)?\s*(?P<so>(?:\bwith\b|\bat\b|\bin\b|\bon\b|\S).*)$"
)
KEPT = _all(
    rf"^(?:(?:keep|leave)\s+(?:{_MARKS}|everything|it|all|the\s+rest|the\s+others?)(?:\s+(?:as\s+(?:it\s+is|is|they\s+are|"
    rf"before)|alone|unchanged|the\s+same))*|(?:do\s+not|don't)\s+(?:change|touch)\s+.*|"
    rf"{_MARKS}\s+(?:is|are|looks?)\s+(?:fine|good|great|perfect|ok(?:ay)?|right|nice|lovely|as\s+it\s+should\s+be)|"
    rf"i\s+(?:really\s+)?(?:like|love)\s+(?:{_MARKS}|it|this|that|everything|the\s+rest)(?:\s+(?:very\s+much|a\s+lot))?|"
    rf"{_MARKS}\s+(?:can\s+)?stays?(?:\s+as\s+.*)?|the\s+rest\s+(?:is\s+fine|stays.*))$"
)
KEPT_ONLY = _all(rf"^(?:(?:only|just)\s+keep|keep\s+(?:only|just|nothing\s+but))\s+{_MARKS}$")
#: Of a step that is too much at once.
SIMPLER = _all(
    rf"\bplan\s+(?:it|this|that|them|{MARK})\s+(?:otherwise|differently|in\s+another\s+way)\b|"
    rf"\bsimplify\s+{MARK}|\b(?:make|keep|draw)\s+{MARK}\s+(?:much\s+|a\s+bit\s+)?(?:simpler|easier|plainer|less\s+"
    rf"(?:crowded|busy|full|complex|complicated|detailed))\b|{MARK}\s+(?:is|looks)\s+(?:much\s+|far\s+)?too\s+"
    r"(?:crowded|busy|full|complex|complicated|detailed|much)\b|"
    rf"\b(?:less|fewer)\s+(?:things|objects|detail|details|clutter)\s+in\s+{MARK}"
)
#: What a run says of a step it could not draw.
FAILED = _all(rf"{MARK}[^.]{{0,80}}?\bcould\s+not\s+be\s+drawn\b")
SPLIT = _all(rf"^(?:split|divide|break)\s+{MARK}(?:\s+up)?(?:\s+in(?:to)?\s+(?:two|2|parts|halves)(?:\s+\w+)?)?$")
STEP_COUNT = _all(rf"\b(?:in\s+)?(?:only\s+|exactly\s+)?(?:{_N}|fewer|more|less)\s+{_ONE}\b")

_TEXT = r"(?P<what>caption|title|text|heading|words?|wording|description|name)"
_TO = r"(?:to(?:\s+(?:be|read|say))?|into|as|with|by|read|say)"
REWORDED = tuple(
    _all(pattern)
    for pattern in (
        (
            rf"^(?:change|set|make|rewrite|replace|reword|let|rename|give)\s+(?:the\s+)?{_TEXT}\s+"
            rf"(?:of|for|in|under|below|at|on)\s+{MARK}\s*(?:\b{_TO}\b|:)\s*:?\s*(?P<to>.+)$"
        ),
        (
            rf"^(?:the\s+)?{_TEXT}\s+(?:of|for|in|under|below)\s+{MARK}\s*(?:(?:{_SHOULD}\s+)?(?:be|read|say)|reads|says|is|:)"
            r"\s*:?\s*(?P<to>.+)$"
        ),
        (
            rf"^(?:in\s+|for\s+)?{MARK}(?:'s|,)?\s+(?:change\s+)?(?:the\s+)?{_TEXT}\s*"
            rf"(?:(?:{_SHOULD}\s+)?(?:be|read|say)\b|\b(?:is|to)\b|:|=)\s*:?\s*(?P<to>.+)$"
        ),
        rf"^give\s+{MARK}\s+the\s+{_TEXT}\s*:?\s*(?P<to>.+)$",
    )
)
TITLED = _all(rf"^(?:rename|call|title|name|entitle)\s+{MARK}\s+(?:to\s+|as\s+)?:?\s*(?P<to>.+)$")
WORDED = _all(
    rf"^(?:caption\s+{MARK}\s+(?:as\s+|with\s+)?|(?:under|below)\s+{MARK},?\s+(?:write|say|put)\s*)\s*:?\s*(?P<to>.+)$"
)
_WHOLE = r"(?:it|this|the\s+(?:document|story|guide|whole\s+(?:thing|story|document)|sequence|plan))"
HEADING = _all(
    rf"^(?:(?:change|set|make)\s+the\s+(?:title|heading|name)(?:\s+of\s+{_WHOLE})?\s+(?:to|into)\s*:?\s*(?P<to>.+)|"
    rf"(?:the\s+)?(?:document\s+)?(?:title|heading)\s*(?:{_SHOULD}\s+(?:be|read)|is|:)\s*:?\s*(?P<to2>.+)|"
    rf"(?:call|rename|title|entitle)\s+{_WHOLE}\s+(?:to\s+|as\s+)?:?\s*(?P<to3>.+))$"
)
_LANGUAGES = (
    r"(?:english|german|deutsch|french|français|spanish|español|chinese|mandarin|cantonese|italian|italiano|portuguese|"
    r"russian|ukrainian|japanese|korean|dutch|flemish|polish|czech|turkish|arabic|hebrew|persian|hindi|bengali|swedish|"
    r"danish|norwegian|finnish|greek|latin|hungarian|romanian|vietnamese|thai|indonesian|klingon|esperanto|englisch|"
    r"französisch|spanisch|chinesisch|italienisch|anglais|allemand|inglés|alemán)"
)
LANGUAGE = _all(
    rf"(?:^|\s)(?:in|into|to|auf|en)\s+(?:simple\s+|plain\s+)?(?P<to>{_LANGUAGES})(?:\s+(?:language|words|instead))?$|"
    r"^(?:translate|übersetze|traduis|traduce)\b.*$|(?:翻译|用\w{1,3}[文语])"
)

_COLOR = rf"(?:{'|'.join(COLORS)}|gray|violet)"
_EVERYTHING = rf"(?:everything|it\s+all|all(?:\s+of\s+it)?|them\s+all|the\s+pictures|{MARK})"
_MEDIUM = (
    r"(?:(?:\w+\s+){0,2}(?:water-?\s?colou?rs?|oil\s+paint\w*|oils?|acrylics?|gouache|pencil|charcoal|crayons?|pastels?|"
    r"ink|pen\s+and\s+ink|line\s+art|line\s+drawing|comics?|comic\s+book|cartoons?|manga|anime|pixel\s+art|8-?bit|"
    r"photo(?:graph)?s?|photo-?realistic|photo-?realism|realistic|3d|3d\s+render\w*|cgi|woodcut|linocut|clay|claymation|"
    r"paper\s?cut\w*|collage|vintage|retro|minimalist|flat\s+design|isometric|impressionis[tm]\w*|expressionis[tm]\w*|"
    r"cubis[tm]\w*|art\s+deco|art\s+nouveau|pop\s+art|graffiti|mosaic|stained\s+glass|ukiyo-?e|blueprint|fresco|"
    r"steampunk|cyberpunk|noir|storybook|children'?s\s+book|chalk(?:board)?|origami|embroidery|felt|lego|low[- ]poly|"
    r"vector\s+art|engraving|etching|sculpture))"
)
_MAKE = r"(?:make|draw|paint|render|turn|redo|redraw|show|do|have|let|sketch|convert|change|restyle|repaint)"
LOOK = _all(
    rf"^(?:(?:(?:the\s+)?same(?:\s+(?:\w+))?(?:\s+again)?|{_MAKE}\s+(?:it|this|{_EVERYTHING})(?:\s+all)?|{_EVERYTHING}|"
    rf"it\s+{_SHOULD}\s+(?:be|look))\s*,?\s*(?:but\s+)?)?(?:look\s+)?(?:as|like|in|into|to|with)?\s*(?:an?\s+)?"
    rf"(?P<to>{_MEDIUM})(?:\s+(?:style|look|drawings?|paintings?|pictures?|version|illustrations?|technique))*$"
)
ABOUT_STYLE = tuple(
    _all(pattern)
    for pattern in (
        r"^(?:.{0,60}?\s)?in\s+the\s+(?:style|manner|look)\s+of\s+(?P<to>.+)$",
        r"^(?:change\s+|set\s+)?(?:the\s+)?(?:style|look)\s*(?:\bto\b|:|=|should\s+be|must\s+be)\s*(?:an?\s+)?(?P<to>.+)$",
        rf"^(?:{_MAKE}\s+(?:it|this|{_EVERYTHING})\s+)?(?:in|with)\s+(?:an?\s+)?(?P<to>[^,;]{{1,60}}?)\s+(?:style|look)$",
        r"^(?:use\s+)?(?:another|a\s+different|a\s+new)\s+(?:style|look)\s*:?\s*(?P<to>.+)$",
        (
            r"^(?:the\s+)?same\s+(?:story|thing|pictures?|guide|plan|again|one|sequence)\s*,?\s*(?:but\s+)?(?:as|like)\s+"
            r"(?:an?\s+)?(?P<to>.+)$"
        ),
    )
)
PALETTE = _all(
    rf"^(?:{_MAKE}\s+)?(?:(?:it|this|{_EVERYTHING})\s+)?(?:in|with|use)\s+(?:only\s+|nothing\s+but\s+)?"
    rf"(?:shades\s+of\s+|tones\s+of\s+)?(?P<to>{_COLOR}(?:\s+and\s+{_COLOR})*|black\s+and\s+white|sepia|monochrome|"
    rf"gr[ae]y-?scale|(?:warm|cold|cool|soft|muted|bright|pastel|dark|light|strong|vivid|other)(?:er)?\s+colou?rs)"
    r"(?:\s+(?:tones?|colou?rs|shades))?(?:\s+only)?$"
)
