"""A lesson in circuits: an LED, a battery and a resistor, in four steps, with every drawing checked wire by wire.

python examples/circuit_lesson.py [--out DIR] [--model PROVIDER:MODEL]

A chat model draws, by writing SVG (backend `svg`); each step is a change of the drawing before. The check `netlist`
reads which parts a drawing really connects and holds that against the lesson. Looks hardly tell: a switch with
a wire left across it still looks like a switch. What fails is drawn again, and the model is told why.

Offline the model is an apprentice: a stand-in that writes circuits, and makes two mistakes of the kind that real
models make. It never hears what is wrong but from the check. With `--model openai:gpt-6-sol` a real model draws, and
judges what the check lets pass.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from langgraph_interleave import ArtifactStore, Document, create_interleave_graph
from langgraph_interleave.backends.svg import SvgBackend
from langgraph_interleave.checks import Netlist
from langgraph_interleave.critic import OnText
from langgraph_interleave.types import CheckResult, Critique, CritiqueRequest, CritiqueResult, Plan, Step
from langgraph_interleave.types.record import Attempt

sys.path.insert(0, str(Path(__file__).parent))
from figure import Row, Tile, figure

#: Volts of the battery, volts that a red LED takes, and the next resistor of the E12 series above 350 ohm.
SUPPLY, LED, OHMS = 9.0, 2.0, 390
MILLIAMPERES = (SUPPLY - LED) / OHMS * 1000

#: Title, caption, what is to be drawn, and which parts meet: exactly these, and no others.
LESSON: tuple[tuple[str, str, str, list[tuple[str, ...]]], ...] = (
    ("Battery and resistor",
     ("An LED wants about 2 V and at most 20 mA. The resistor takes the other 7 V: 7 V / 20 mA = 350 ohm. "
      f"The next standard value is {OHMS} ohm."),
     f"Draw a battery V1 ({SUPPLY:g} V) and a resistor R1 ({OHMS} Ω), V1+ wired to R1.",
     [("V1", "R1")]),
    ("Add the LED",
     "Its long leg, the anode, goes to the resistor. The arrow in the symbol points where the current may flow.",
     "Add the red LED D1 (2 V), its anode wired to R1.",
     [("V1", "R1"), ("R1", "D1")]),
    ("Close the loop",
     f"From the cathode back to the battery: now {MILLIAMPERES:.0f} mA flow, and it lights. (9 V - 2 V) / {OHMS} ohm.",
     f"Wire the cathode of D1 back to V1-. It lights; write I = {MILLIAMPERES:.0f} mA beside it.",
     [("V1", "R1"), ("R1", "D1"), ("D1", "V1")]),
    ("Add a switch",
     "There is only one way round, so a switch anywhere in the loop opens all of it. Open, as drawn: no light.",
     "Put a switch S1, open, into the wire from V1+ to R1. With it open, D1 is dark and I = 0.",
     [("V1", "S1"), ("S1", "R1"), ("R1", "D1"), ("D1", "V1")]),
)  # fmt: skip


class ByChecks:
    """A critic that trusts the checks alone, and passes on what they say."""

    billed = False
    fingerprint = "by-checks/1"

    async def acritique(self, request: CritiqueRequest, *, on_text: OnText | None = None) -> CritiqueResult:
        """Accept what no check objects to; else the same prompt again, with the reason."""
        said = "; ".join(check.reason or check.name for check in request.checks)
        if not said:
            return CritiqueResult(Critique(verdict="accept", reasoning="Wired as the lesson says."))
        again = f"{request.prompt}\nThe last drawing was wrong: {said}."
        return CritiqueResult(Critique(verdict="revise", reasoning=said, refined_prompt=again))


class Apprentice(BaseChatModel):
    """Stands in for a chat model that writes SVG: draws each part where it belongs, and errs until it is told.

    It ends one wire a little too early, and leaves the old wire where a switch is put in.
    """

    @property
    def _llm_type(self) -> str:
        return "apprentice"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        asked = messages[-1].text
        drawing = re.search(r"<svg.*</svg>", asked, re.DOTALL)
        wish = asked[drawing.end() :] if drawing else asked
        svg = self._changed(drawing[0] if drawing else "", wish, told="was wrong" in wish)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(f"```svg\n{svg}\n```"))])

    def _changed(self, drawing: str, wish: str, *, told: bool) -> str:
        if "battery V1" in wish:
            return f"{SHEET}{BATTERY}{RESISTOR}{wire('v1-r1', 'M120 200V100H200')}</svg>"
        if "LED D1" in wish:
            return _with(drawing, LAMP, wire("r1-d1", "M320 100H500V160"))
        if "cathode" in wish:
            return _with(drawing, GLOW, wire("d1-v1", "M500 220V360H120V260" if told else "M500 220V360H120V280"))
        old = r'<path[^>]*id="wire-v1-r1"[^>]*/>'
        drawing = re.sub(r'<g[^>]*id="glow".*?</g>', "", drawing, flags=re.DOTALL)
        drawing = re.sub(old, "", drawing) if told else drawing
        return _with(drawing, SWITCH, wire("v1-s1", "M120 200V180"), wire("s1-r1", "M120 120V100H200"))


def _with(drawing: str, *parts: str) -> str:
    return drawing.replace("</svg>", "".join(parts) + "</svg>")


def wire(name: str, path: str) -> str:
    """A wire."""
    return f'<path id="wire-{name}" d="{path}" fill="none" stroke="#3a3a38" stroke-width="4"/>'


def part(name: str, shapes: str, words: Sequence[tuple[int, int, str]]) -> str:
    """A part with its label."""
    label = "".join(
        f'<text x="{x}" y="{y}" font-size="24" font-family="sans-serif" fill="#3a3a38" stroke="none">{said}</text>'
        for x, y, said in words
    )
    return f'<g id="{name}" fill="none" stroke="#3a3a38" stroke-width="4">{shapes}{label}</g>'


SHEET = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 30 600 360"><rect id="sheet" y="30" width="600" height="360" '
    'fill="#ffffff"/>'
)
BATTERY = part(
    "battery-v1",
    '<path d="M120 200V222M84 222H156M102 238H138M120 238V260"/>',
    [(20, 224, "V1"), (20, 252, f"{SUPPLY:g} V"), (134, 212, "+")],
)
RESISTOR = part(
    "resistor-r1", '<path d="M200 100H220M300 100H320"/><rect x="220" y="84" width="80" height="32"/>',
    [(206, 66, f"R1 {OHMS} Ω")],
)  # fmt: skip
LAMP = part(
    "led-d1",
    '<path d="M500 160V172M500 208V220M478 208H522"/><path d="M478 172H522L500 208Z" fill="#c7463b"/>',
    [(384, 186, "D1 red"), (384, 214, "2 V")],
)
GLOW = (
    '<g id="glow" stroke="#d9952b" stroke-width="4" fill="none">'
    '<path d="M540 176L566 160M546 194H578M540 212L566 228"/>'
    f'<text x="250" y="344" font-size="24" font-family="sans-serif" fill="#b0701a" stroke="none">'
    f"I = {MILLIAMPERES:.0f} mA</text></g>"
)
SWITCH = part("switch-s1", '<path d="M120 180V170M120 130V120M120 170L90 132"/>', [(20, 158, "S1")])


def lesson() -> Plan:
    """The lesson as a plan: each step is a change of the drawing before."""
    steps = [
        Step(
            index=number,
            op="edit" if number else "generate",
            title=title,
            caption=caption,
            instruction=asked,
            prompt=asked,
            sources=(f"step:{number - 1}",) if number else (),
        )
        for number, (title, caption, asked, _) in enumerate(LESSON)
    ]
    return Plan(steps=tuple(steps), title="How to light an LED")


def main(argv: Sequence[str] | None = None) -> Document:
    """Have the lesson drawn, say what happened, and write it down."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("circuit_lesson"), help="folder for the document")
    parser.add_argument("--model", help="a chat model that draws and judges, such as openai:gpt-6-sol")
    parser.add_argument("--size", default="640x384")
    options = parser.parse_args(argv)
    artifacts = ArtifactStore.memory()
    netlist = Netlist({number: nets for number, (*_, nets) in enumerate(LESSON)})
    graph = create_interleave_graph(
        lesson(),
        SvgBackend(options.model) if options.model else SvgBackend(Apprentice(), billed=False),
        options.model or ByChecks(),
        checks=("not_blank", netlist),
        artifacts=artifacts,
        size=options.size,
    )
    result = graph.invoke({"request": "How to light an LED with a battery and a resistor, in 4 steps"})
    document = Document.load(result["document"], artifacts)
    document.save(options.out)
    print(f"{result['outcome']}: {result['spend']['calls']}")
    for step, record in zip(document.steps, document.records(), strict=True):
        for attempt in record.attempts if record is not None else ():
            print(f"step {step.index + 1}, attempt {attempt.number + 1}: {told(attempt)}")
    print(figure(rows(document, artifacts), options.out / "circuit_lesson.png"))
    return document


def told(attempt: Attempt) -> str:
    """What the check found in a drawing."""
    if attempt.problem is not None:
        return attempt.problem.message
    (wiring,) = (check for check in attempt.checks if check.name == "netlist")
    return "wired as the lesson says" if wiring.passed else wiring.reason or "nothing to check"


def rows(document: Document, artifacts: ArtifactStore) -> list[Row]:
    """The lesson; what the check found."""
    tiles = [
        Tile(image.data, f"{step.index + 1}. {step.title}", step.caption or "") for step, image in document.images()
    ]
    wrong = [
        Tile(artifacts.get(attempt.image), f"Step {record.index + 1}", _sentence(attempt.failed_checks[0]), wrong=True)
        for record in document.records()
        if record is not None
        for attempt in record.attempts
        if attempt.image is not None and attempt.failed_checks
    ]
    shown = [Row(tiles[:2], 2), Row(tiles[2:], 2)]
    return [*shown, Row(wrong[:2], 2, "Found by the check of connections, and drawn again", 170)] if wrong else shown


def _sentence(check: CheckResult) -> str:
    said = check.reason or check.name
    return f"{said[:1].upper()}{said[1:]}."


if __name__ == "__main__":
    main()
