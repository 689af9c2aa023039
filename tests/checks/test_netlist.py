"""The check `netlist`: circuits are read from the drawings the backend `svg` leaves in its pictures."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models import FakeListChatModel

from langgraph_interleave import create_interleave_graph
from langgraph_interleave.backends.svg import SvgBackend
from langgraph_interleave.backends.svg.sanitizer import clean
from langgraph_interleave.checks import Netlist
from langgraph_interleave.checks.circuits.nets import pairs_of
from langgraph_interleave.checks.circuits.paths import lines_of
from langgraph_interleave.checks.circuits.tree import Illegible
from langgraph_interleave.checks.netlist import asked_for, netlist_of
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.imaging.drawings import with_source
from langgraph_interleave.registry import init_check
from langgraph_interleave.testing import ScriptedCritic, ScriptedPlanner, noise_card
from langgraph_interleave.types import Critique, CritiqueRequest, ImageBytes, ImageRequest, Plan, Step

#: A loop as a model draws one: symbols in groups with leads of their own, wires in a group, words beside.
LOOP = """
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 300">
  <rect id="background" width="400" height="300" fill="white"/>
  <g id="wires" fill="none" stroke="black" stroke-width="2">
    <path id="wire-v1-r1" d="M 60 120 V 60 H 140"/>
    <path d="M 240 60 H 340 V 120"/>
    <polyline points="340,180 340,240 60,240 60,180"/>
  </g>
  <g id="battery-v1" stroke="black" stroke-width="2">
    <line x1="60" y1="120" x2="60" y2="143"/><line x1="40" y1="143" x2="80" y2="143"/>
    <line x1="50" y1="157" x2="70" y2="157"/><line x1="60" y1="157" x2="60" y2="180"/>
    <text x="20" y="155" stroke="none">V1 9 V</text>
  </g>
  <g id="resistor-r1" fill="none" stroke="black" stroke-width="2">
    <polyline points="140,60 155,60 160,50 170,70 180,50 190,70 200,50 210,70 215,60 240,60"/>
    <text x="180" y="40" fill="black" stroke="none">R1</text>
  </g>
  <g stroke="black" stroke-width="2">
    <path d="M340 120 v23 m-20 0 h40 m-40 14 h40 m-20 0 v23"/>
    <text x="370" y="155" stroke="none">C1</text>
  </g>
</svg>"""
LOOPED = [["C1", "R1"], ["C1", "V1"], ["R1", "V1"]]


COPIES = """
<defs><g id="resistor"><path d="M0 0h10v-5h40v10h-40v-5M50 0h10"/></g></defs>
<use id="R1" href="#resistor" x="20" y="50"/>
<use id="R2" href="#resistor" transform="translate(120 50) rotate(90)"/>
<path d="M80 50H120"/>"""
LABELLED_COPIES = """
<defs><g id="resistor"><rect y="-5" width="60" height="10"/></g></defs>
<g><use href="#resistor" x="20" y="50"/><text x="40" y="40">R1</text></g>
<g><use href="#resistor" transform="matrix(0 1 -1 0 120 50)"/><text x="130" y="80">R2</text></g>
<path d="M80 50H120"/>"""
BESIDE = """
<rect x="20" y="90" width="60" height="20"/><rect x="140" y="90" width="60" height="20"/>
<text x="40" y="82">R1</text><text x="155" y="104">R2 = 5 kΩ</text><path d="M80 100h60"/>"""

NUMBERED = """
<g id="g1"><g id="R1"><rect id="c1" x="20" y="90" width="60" height="20"/><path id="pin1" d="M80 100h5"/>
<text>R1</text></g></g>
<path id="w1" d="M85 100H140"/>
<g id="g2"><rect x="140" y="90" width="60" height="20"/><text>R2</text></g>"""


def read(svg: str, *names: str) -> list[list[str]]:
    """The netlist of what the sanitiser makes of a drawing."""
    return [sorted(net) for net in netlist_of(clean(svg).svg(), names)]


def sheet(body: str, style: str = 'stroke="black" fill="none"') -> str:
    return f'<svg viewBox="0 0 400 300" {style}>{body}</svg>'


def boxes(*names: str, y: int = 90) -> str:
    """Boxes 60 by 20 with ids, 120 apart, their terminals at half their height."""
    return "".join(
        f'<rect id="{name.lower()}" x="{20 + 120 * place}" y="{y}" width="60" height="20"/>'
        for place, name in enumerate(names)
    )


def held(svg: str) -> ImageBytes:
    """A picture that holds a drawing."""
    card = noise_card("a circuit", side=8)
    return ImageBytes(with_source(card.data, clean(svg).svg()), card.mime, card.width, card.height)


def step(instruction: str, index: int = 0) -> Step:
    return Step(index=index, op="generate", instruction=instruction, prompt="a circuit")


@pytest.mark.parametrize("size", [(400, 300), (1000, 1000)])
def test_a_circuit_drawn_by_the_backend_is_read_from_its_picture(size: tuple[int, int]) -> None:
    backend = SvgBackend(FakeListChatModel(responses=[f"```svg\n{LOOP}\n```"]), billed=False)
    request = ImageRequest("a loop", width=size[0], height=size[1])
    picture = asyncio.run(backend.agenerate(request)).images[0]
    loop = Netlist([("V1", "R1"), ("R1", "C1"), ("C1", "V1")])
    assert loop.check(step("A loop."), None, picture, ()).passed is True
    short = Netlist([("V1", "R1"), ("R1", "C1", "V1")])
    assert short.check(step("A loop."), None, picture, ()).reason == (
        "the circuit is wired wrongly: R1 and V1 should be connected and are not. "
        "What the drawing joins: C1, R1; C1, V1; R1, V1"
    )


def test_parts_wires_and_nets_of_a_loop() -> None:
    assert read(LOOP) == LOOPED


@pytest.mark.parametrize(
    ("was", "becomes", "nets"),
    [
        ("H 140", "H 120", [["C1", "R1"], ["C1", "V1"]]),  # a wire that ends short of the resistor
        ("H 140", "H 141", LOOPED),  # not to the eye
        ('points="340,180 340,240', 'points="340,240', [["C1", "R1"], ["R1", "V1"]]),
        ('<polyline points="340,180', '<path d="M140 60V110H240V60"/><polyline points="340,180',
         [["C1", "R1", "V1"], ["C1", "V1"]]),
        ('<text x="370"', '<text x="360" font-size="12">U</text><text x="370"', LOOPED),
        ("C1</text>", "C1 10 µF</text>", LOOPED),
        ("C1</text>", "<tspan>C1</tspan><tspan x=\"370\" dy=\"14\">10 nF</tspan></text>", LOOPED),
        ('<g id="battery-v1"', '<g id="V1_battery"', LOOPED),
    ],
)  # fmt: skip
def test_what_differs_is_seen(was: str, becomes: str, nets: list[list[str]]) -> None:
    assert was in LOOP
    assert read(LOOP.replace(was, becomes)) == nets


@pytest.mark.parametrize(
    ("body", "nets"),
    [
        # Ends meet, or lie on a line; that lines cross joins nothing, unless there is a dot.
        (boxes("R1", "R2") + '<line x1="80" y1="100" x2="140" y2="100"/>', [["R1", "R2"]]),
        (boxes("R1", "R2", "R3") + '<path d="M80 100H140M110 100V200H290V110"/>', [["R1", "R2", "R3"]]),
        (boxes("R1", "R2") + boxes("R3", "R4", y=190) + '<path d="M80 100L140 200"/><path d="M80 200L140 100"/>',
         [["R1", "R4"], ["R2", "R3"]]),
        (boxes("R1", "R2") + boxes("R3", "R4", y=190) + '<path d="M80 100L140 200"/><path d="M80 200L140 100"/>'
         '<circle cx="110" cy="150" r="4" fill="black"/>', [["R1", "R2", "R3", "R4"]]),
        # One line behind everything: bodies cover it.
        ('<path d="M0 100H400"/><g fill="white">' + boxes("R1", "R2", "R3") + "</g>", [["R1", "R2"], ["R2", "R3"]]),
        ('<rect x="50" y="100" width="240" height="150"/><g fill="white">' + boxes("R1", "R2", "R3") + "</g>",
         [["R1", "R2"], ["R1", "R3"], ["R2", "R3"]]),
        # Side by side, they meet twice.
        (boxes("R1", y=60) + boxes("R2", y=140) + '<path d="M20 70V150"/><path d="M80 70V150"/>',
         [["R1", "R2"], ["R1", "R2"]]),
        # Leads that meet need no wire.
        ('<g id="r1"><path d="M10 50h20v-5h30v10h-30v-5m30 0h20"/></g><g id="r2"><path d="M80 50h20"/></g>',
         [["R1", "R2"]]),
        # Supplies are one node wherever they stand.
        (boxes("R1", "R2") + '<g id="gnd1"><line x1="50" y1="110" x2="50" y2="120"/><text x="45" y="135">GND</text></g>'
         '<g><path d="M170 110v20m-10 0h20"/><text x="160" y="150">GND</text></g>', [["GND", "R1", "R2"]]),
        # A path over the other line, as a bridge.
        (boxes("R1", "R2") + boxes("R3", y=10) + boxes("R4", y=190)
         + '<path d="M80 100H100A10 10 0 0 1 120 100H140"/><path d="M80 20H110V200H80"/>',
         [["R1", "R2"], ["R3", "R4"]]),
    ],
)  # fmt: skip
def test_how_lines_join(body: str, nets: list[list[str]]) -> None:
    assert read(sheet(body)) == nets


@pytest.mark.parametrize(
    ("body", "nets"),
    [
        # Copies of one symbol, moved and turned.
        (COPIES, [["R1", "R2"]]),
        (LABELLED_COPIES, [["R1", "R2"]]),
        # Names that only stand beside their boxes.
        (BESIDE, [["R1", "R2"]]),
        # What is not seen joins nothing; what a style sheet paints does.
        (boxes("R1", "R2") + '<path d="M80 100h60" display="none"/>', []),
        (boxes("R1", "R2") + '<path d="M80 100h60" stroke="none"/>', []),
        (boxes("R1", "R2") + '<g visibility="hidden"><path d="M80 100h60"/></g>', []),
        ('<style>.wire{stroke:#111;fill:none} rect{stroke:blue}</style><g stroke="none">' + boxes("R1", "R2")
         + '<path class="wire" d="M80 100h60"/></g>', [["R1", "R2"]]),
        # Ids that count pins, groups and wires name no parts; a part is one in spite of such ids in it.
        (NUMBERED, [["R1", "R2"]]),
        ("", []),
    ],
)  # fmt: skip
def test_what_is_drawn_is_what_counts(body: str, nets: list[list[str]]) -> None:
    assert read(sheet(body)) == nets


def test_parts_of_any_name_are_found_when_they_are_asked_for() -> None:
    drawing = sheet(
        '<g id="battery"><path d="M20 50v40"/></g><g><rect x="80" y="40" width="30" height="20"/>'
        '<text x="85" y="35">Lamp</text></g><path d="M20 50H80"/>'
    )
    assert read(drawing, "battery", "lamp") == [["battery", "lamp"]]
    assert Netlist([("battery", "lamp")]).check(step("A lamp."), None, held(drawing), ()).passed is True


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ('<path d="M20 20l5 5 5 -10 5 10"/><text x="300" y="250">R9</text>', "nothing tells which shape is R9"),
        ('<path d="M20 20h1e99"/>', "too large"),
        ('<path d="M20 20h"/>', "a path is broken"),
        ('<symbol id="s" viewBox="0 0 1 1"><path d="M0 0h1"/></symbol><use href="#s"/>', "scaled by a view box"),
        ('<rect width="50%" height="5"/>', "no plain number"),
        ('<g transform="rotate(1,2)"><path d="M20 20h5"/></g>', "cannot be followed"),
    ],
)
def test_what_cannot_be_followed_is_not_judged(body: str, says: str) -> None:
    with pytest.raises(Illegible, match=says):
        netlist_of(sheet(body))
    found = Netlist([("R1", "R2")]).check(step("Two resistors."), None, put_in(sheet(body)), ())
    assert (found.passed, says in found.reason) == (None, True)


def put_in(svg: str) -> ImageBytes:
    """A picture with any text for its drawing, as anybody may write one."""
    card = noise_card("a circuit", side=8)
    return ImageBytes(with_source(card.data, svg), card.mime, card.width, card.height)


@pytest.mark.parametrize(
    "svg",
    [
        '<!DOCTYPE svg [<!ENTITY a "x">]><svg viewBox="0 0 9 9">&a;</svg>',
        "<svg",
        "no drawing",
        "<svg/>",
        f"<svg viewBox='0 0 9 9'>{'<g>' * 200}{'</g>' * 200}</svg>",
        '<svg viewBox="0 0 9 9"><g id="a"><use href="#a"/></g></svg>',
        '<svg viewBox="0 0 9 9"><g id="a">' + '<use href="#b"/>' * 200 + '</g><g id="b">' + '<use href="#c"/>' * 200
        + '</g><g id="c"><path d="M0 0h1"/></g><use href="#a"/></svg>',
    ],
    ids=["entities", "torn", "words", "no-size", "deep", "itself", "multiplied"],
)  # fmt: skip
def test_a_file_from_anybody_is_safe_to_read(svg: str) -> None:
    assert Netlist([("R1", "R2")]).check(step("x"), None, put_in(svg), ()).passed is None


@given(st.text(alphabet="MmLlHhVvCcSsQqTtAaZz0123456789.,-+e \n", max_size=60))
def test_any_path_is_lines_or_illegible(d: str) -> None:
    try:
        lines = lines_of("path", {"d": d})
    except Illegible:
        return
    assert all(len(line.points) > 1 for line in lines)
    assert all(abs(value) < float("inf") for line in lines for point in line.points for value in point)


@given(
    st.lists(st.sampled_from(["R1", "R2", "R3", "R4", "C1", "L1"]), min_size=2, max_size=6, unique=True),
    st.integers(0, 3), st.floats(0.4, 3), st.integers(-50, 50),
)  # fmt: skip
def test_a_chain_is_the_same_chain_however_it_is_turned_and_moved(
    names: list[str], turns: int, scale: float, shift: int
) -> None:
    """Parts in a row, each joined with the next: whatever is done to the whole, the same parts meet."""
    wires = "".join(f'<path d="M{80 + 120 * n} 100h60"/>' for n in range(len(names) - 1))
    body = f'<g transform="translate({shift} 3) rotate({90 * turns}) scale({scale})">{boxes(*names)}{wires}</g>'
    svg = f'<svg viewBox="-900 -900 1800 1800" stroke="black" fill="none">{body}</svg>'
    chain = pairs_of([set(pair) for pair in pairwise(names)])
    assert pairs_of(netlist_of(svg, tolerance=0.002)) == chain


@pytest.mark.parametrize(
    ("instruction", "wanted", "unwanted"),
    [
        ("R1 is connected to C1.", [("C1", "R1")], []),
        ("Connect V1 to R1 and R2.", [("R1", "V1"), ("R2", "V1")], []),
        ("R1, R2 and R3 are connected to GND.", [("GND", "R1"), ("GND", "R2"), ("GND", "R3")], []),
        ("R1 and C1 are connected; C1 connects to VCC", [("C1", "R1"), ("C1", "VCC")], []),
        ("R1 in series with L1, C2 in parallel with R2", [("L1", "R1"), ("C2", "R2")], []),
        ("Connect R1 to C1 and R2 to C2", [("C1", "R1")], []),  # the rest is not understood, nor misunderstood
        ("R1 is connected to C1 and R2 is connected to C2.", [("C1", "R1"), ("C2", "R2")], []),
        ("R1 is not connected to C1", [], [("C1", "R1")]),
        ("Do not connect R1 to C1", [], [("C1", "R1")]),
        ("Don't wire R1 to C1", [], [("C1", "R1")]),
        ("R1 must never be directly connected to GND", [], [("GND", "R1")]),
        ("R1 and C1 must not be connected", [], [("C1", "R1")]),
        ("Connect R1 and C1; R1 and L1 are in series.", [("C1", "R1"), ("L1", "R1")], []),
        ("Connect R1 and R2 to C1", [("C1", "R1"), ("C1", "R2")], []),
        ("A resistor R1 of 5 kΩ and a capacitor C1.", [], []),
        ("The R1 zone is connected to the A4 road.", [], []),
        ("A girl connects with her friends.", [], []),
    ],
)  # fmt: skip
def test_what_an_instruction_asks_for(
    instruction: str, wanted: list[tuple[str, str]], unwanted: list[tuple[str, str]]
) -> None:
    asked = asked_for(instruction)
    assert (sorted(asked.wanted), sorted(asked.unwanted)) == (sorted(wanted), sorted(unwanted))


def test_an_instruction_is_held_against_the_drawing() -> None:
    check = init_check("netlist")
    assert isinstance(check, Netlist)
    drawing = held(LOOP)
    assert check.check(step("R1 is connected to C1 and V1."), None, drawing, ()).passed is True
    wrong = check.check(step("R1 is connected to C1 and L1; C1 is not connected to V1."), None, drawing, ())
    assert wrong.reason.startswith(
        "the circuit is wired wrongly: L1 and R1 should be connected and are not; "
        "C1 and V1 should not be connected and are."
    )
    assert check.check(step("A battery, a resistor, a capacitor."), None, drawing, ()).passed is None
    assert check.check(step("R1 is connected to C1."), None, noise_card("no drawing"), ()).reason != ""


async def test_a_circuit_that_is_wired_wrongly_is_drawn_again() -> None:
    torn = LOOP.replace("H 140", "H 100")
    backend = SvgBackend(FakeListChatModel(responses=[torn, LOOP]), billed=False)
    told: list[str] = []

    def judge(request: CritiqueRequest) -> Critique:
        told.extend(check.reason for check in request.checks if check.passed is False)
        return Critique(verdict="accept")

    plan = Plan(steps=(step("V1 is connected to R1."),))
    graph = create_interleave_graph(
        ScriptedPlanner(plan), backend, ScriptedCritic(judge), checks=("netlist",), size="400x300"
    )
    document = (await graph.ainvoke({"request": "A loop."}))["document"]
    assert (document["outcome"], document["steps"][0]["attempts"]) == ("complete", 2)
    (reason,) = told
    assert reason == (
        "the circuit is wired wrongly: R1 and V1 should be connected and are not. "
        "What the drawing joins: C1, R1; C1, V1"
    )


def test_each_step_of_a_sequence_has_a_netlist_of_its_own() -> None:
    check = Netlist({0: [("V1", "R1")], 1: [("V1", "R1"), ("R1", "C1"), ("C1", "V1")]})
    drawing = held(LOOP)
    first = check.check(step("Begin.", 0), None, drawing, ())
    assert "C1 and R1, C1 and V1 should not be connected and are" in first.reason
    assert check.check(step("Close the loop.", 1), None, drawing, ()).passed is True
    assert check.check(step("Explain it.", 2), None, drawing, ()).passed is None


@pytest.mark.parametrize("options", [{"expected": [("R1",)]}, {"expected": {0: [("R1", "R1")]}}, {"tolerance": 0.0}])
def test_what_cannot_be_expected_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        Netlist(**options)  # type: ignore[arg-type]
