"""How often the pixel critic is right: a confusion table over simulated pictures.

    python benchmarks/critic_accuracy.py [--pictures 600] [--seed 0] [--json]

Half of the pictures are right. Each of the others has the faults of one category, drawn by the
simulator's own rules (`world/faults.py`), from scenes of two sources: every step of the book of
procedures, and scenes made at random in the manner of GenEval's tasks (one thing, two things, a
number of things, colours, places). Pictures come in several sizes and encodings. No noise is
added to the critic. Random scenes are kept as they come: nothing hard to see is left out.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from PIL import Image

from langgraph_interleave.types import CritiqueRequest, ImageBytes
from langgraph_interleave.world.alternatives import CELLS
from langgraph_interleave.world.critic import PixelCritic
from langgraph_interleave.world.faults import Fault, faulty
from langgraph_interleave.world.grammar import instruction, prompt
from langgraph_interleave.world.palette import COLORS
from langgraph_interleave.world.presets import CATEGORIES, Category, Preset, Rates
from langgraph_interleave.world.procedures.book import book
from langgraph_interleave.world.render import render
from langgraph_interleave.world.scene import Beside, Relation, Scene, Thing
from langgraph_interleave.world.vocabulary import BACKDROPS, KINDS

#: Size and encoding of a picture: pixels along its side, and how it was treated after it was drawn.
TREATMENTS = ("512 png", "512 png", "256 png", "1024 png", "512 jpeg 85", "512 jpeg 60", "512 to 300", "512 to 777")
RELATIONS: tuple[Relation, ...] = ("on", "in", "above", "below", "left of", "right of", "in front of", "behind")


@dataclass(frozen=True, slots=True)
class Sample:
    """One picture with what it should show and what is wrong with it."""

    target: Scene
    before: ImageBytes | None
    after: ImageBytes
    label: str
    faults: tuple[Fault, ...]
    treatment: str


@dataclass(slots=True)
class Table:
    """What came out."""

    accepted: Counter[str] = field(default_factory=Counter[str])
    revised: Counter[str] = field(default_factory=Counter[str])
    named: Counter[str] = field(default_factory=Counter[str])
    cpu_ms: dict[str, list[float]] = field(default_factory=lambda: {"right": [], "faulty": []})
    wall_ms: list[float] = field(default_factory=list[float])
    mistakes: list[str] = field(default_factory=list[str])

    @property
    def false_accept(self) -> float:
        """Share of faulty pictures that were accepted."""
        passed = sum(count for label, count in self.accepted.items() if label != "right")
        faulty_ones = passed + sum(count for label, count in self.revised.items() if label != "right")
        return passed / max(1, faulty_ones)

    @property
    def false_reject(self) -> float:
        """Share of right pictures that were sent back."""
        return self.revised["right"] / max(1, self.revised["right"] + self.accepted["right"])

    def data(self) -> dict[str, object]:
        """As JSON."""
        return {
            "false_accept": round(self.false_accept, 4),
            "false_reject": round(self.false_reject, 4),
            "categories": {
                label: {"accept": self.accepted[label], "revise": self.revised[label], "named": self.named[label]}
                for label in ("right", *CATEGORIES)
                if self.accepted[label] + self.revised[label]
            },
            "cpu_ms": {label: _spread(values) for label, values in self.cpu_ms.items()},
            "wall_ms": _spread(self.wall_ms),
            "mistakes": self.mistakes,
        }


def measure(pictures: int, *, seed: int = 0) -> Table:
    """Judge that many pictures, half of them right."""
    critic, table = PixelCritic(), Table()
    for sample in samples(pictures, seed=seed):
        words = instruction("", sample.target)
        request = CritiqueRequest(instruction=words, prompt=words, after=sample.after, before=sample.before)
        wall, cpu = time.perf_counter(), time.thread_time()
        critique = critic.critique(request)
        table.cpu_ms["faulty" if sample.faults else "right"].append((time.thread_time() - cpu) * 1e3)
        table.wall_ms.append((time.perf_counter() - wall) * 1e3)
        if critique.verdict == "accept":
            table.accepted[sample.label] += 1
        else:
            table.revised[sample.label] += 1
            table.named[sample.label] += _names(critique.reasoning, sample)
        if (critique.verdict == "accept") == bool(sample.faults):
            wrong = " ".join(fault.words for fault in sample.faults) or "nothing"
            table.mistakes.append(f"[{sample.treatment}] wrong: {wrong} | said: {critique.reasoning} | asked: {words}")
    return table


def samples(pictures: int, *, seed: int = 0) -> Iterator[Sample]:
    """Pictures in turn right and faulty, categories in turn."""
    rng = Random(seed)
    steps = [
        (before.scene if before else None, step.scene)
        for entry in book()
        for before, step in zip((None, *entry.usual), entry.usual, strict=False)
    ]
    made, turn = 0, 0
    while made < pictures:
        before, target = rng.choice(steps) if rng.random() < 0.4 else random_case(rng)
        treatment = rng.choice(TREATMENTS)
        shown = None if before is None else treated(before, "512 png", rng)
        if made % 2 == 0:
            yield Sample(target, shown, treated(target, treatment, rng), "right", (), treatment)
            made += 1
            continue
        category = CATEGORIES[turn % len(CATEGORIES)]
        found = with_fault(target, before, category, rng)
        if found is None:
            continue  # this scene has no opportunity for that category: draw another
        wrong, faults = found
        yield Sample(target, shown, treated(wrong, treatment, rng), category, faults, treatment)
        made, turn = made + 1, turn + 1


def with_fault(
    target: Scene, before: Scene | None, category: Category, rng: Random
) -> tuple[Scene, tuple[Fault, ...]] | None:
    """The scene with faults of one category; at a rate of one half, so that not all of it is wrong at once."""
    rates = Rates(**{name: 0.5 if name == category else 0.0 for name in CATEGORIES})
    preset = Preset(name=category, about="", rates=rates, plain_prompt_helps=0, refined_helps=0, drift_cap=0.5)
    for _ in range(8):
        wrong, faults = faulty(target, before, preset, Random(rng.random()), prompt("", target))
        if faults:
            return wrong, faults
    return None


def random_case(rng: Random) -> tuple[Scene | None, Scene]:
    """A scene in the manner of GenEval's tasks; one in two changes a picture before."""
    scene = random_scene(rng)
    if len(scene.things) < 2 or rng.random() < 0.5:
        return None, scene
    return scene.model_copy(update={"things": scene.things[:-1]}), scene


def random_scene(rng: Random) -> Scene:
    """One to three things with numbers, colours, states and places."""
    things: list[Thing] = []
    for kind in rng.sample([name for name in KINDS if name != "card"], rng.choice((1, 2, 2, 3))):
        known = KINDS[kind]
        at = None
        if things and rng.random() < 0.4:
            at = Beside(relation=rng.choice(RELATIONS), of=things[-1].id)
        elif rng.random() < 0.4:
            at = rng.choice(CELLS)
        things.append(
            Thing(
                id=kind.replace(" ", "_"),
                kind=kind,
                color=rng.choice(list(COLORS)) if known.recolourable and rng.random() < 0.6 else None,
                count=rng.choice((1, 1, 1, 2, 3, 4)),
                state=rng.choice(known.states) if known.states and rng.random() < 0.5 else None,
                size=rng.choice(("small", "medium", "medium", "large")),
                at=at,
            )
        )
    return Scene(backdrop=rng.choice(list(BACKDROPS)), things=tuple(things))


def treated(scene: Scene, treatment: str, rng: Random) -> ImageBytes:
    """A picture of a scene in one of the treatments, with a seed of its own."""
    side, what, *value = treatment.split(" ")
    image = render(scene, width=int(side), height=int(side), seed=rng.randrange(2**31))
    if what == "png":
        return image
    with Image.open(io.BytesIO(image.data)) as opened:
        picture = opened.convert("RGB")
    buffer = io.BytesIO()
    if what == "jpeg":
        picture.save(buffer, "JPEG", quality=int(value[0]))
        return ImageBytes(buffer.getvalue(), "image/jpeg", *picture.size)
    resized = picture.resize((int(value[0]), int(value[0])), Image.Resampling.BICUBIC)
    resized.save(buffer, "PNG", compress_level=1)
    return ImageBytes(buffer.getvalue(), "image/png", *resized.size)


def _names(said: str, sample: Sample) -> bool:
    """Whether the reasoning speaks of a thing that is really wrong."""
    if not sample.faults:
        return False
    things = {thing.id: thing for thing in sample.target.things}
    for fault in sample.faults:
        if fault.what == "extra" and "nobody asked for" in said:
            return True
        if fault.what == "backdrop" and "is set" in said:
            return True
        thing = things.get(fault.thing)
        if thing is not None and any(word in said for word in _nouns(thing)):
            return True
    return False


def _nouns(thing: Thing) -> tuple[str, ...]:
    from langgraph_interleave.world.grammar.prose import noun

    return (thing.label,) if thing.label else (noun(thing.kind, 1), noun(thing.kind, 2), thing.kind)


def _spread(values: Sequence[float]) -> dict[str, float]:
    ordered = sorted(values)
    if not ordered:
        return {}
    return {
        name: round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1)
        for name, share in (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("max", 1.0))
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(description="How often the pixel critic is right.")
    parser.add_argument("--pictures", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    options = parser.parse_args(arguments)
    measure(40, seed=options.seed + 1)  # warm-up: fonts, drawings, backdrops
    table = measure(options.pictures, seed=options.seed)
    if options.json:
        sys.stdout.write(json.dumps(table.data(), indent=2) + "\n")
        return 0
    rows = [label for label in ("right", *CATEGORIES) if table.accepted[label] + table.revised[label]]
    lines = [f"{'category':<20}{'accept':>8}{'revise':>8}{'named':>8}"]
    lines += [
        f"{label:<20}{table.accepted[label]:>8}{table.revised[label]:>8}{table.named[label]:>8}" for label in rows
    ]
    lines += [
        f"false accept {table.false_accept:.1%}, false reject {table.false_reject:.1%}",
        f"CPU per critique, ms: right {_spread(table.cpu_ms['right'])}, faulty {_spread(table.cpu_ms['faulty'])}",
        *table.mistakes,
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
