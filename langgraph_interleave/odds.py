"""What a bet on the critic's accept is worth: learned from every call, by critic and kind of step.

A bet draws the next step while this one is judged. Won, it saves the shorter of the two calls; lost, its
pictures were paid for, and where the backend draws one thing at a time and cannot be stopped, the drawing that
is needed now waits for it.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from langgraph_interleave.ledger import Finished

if TYPE_CHECKING:
    from collections.abc import Mapping

#: What is believed of an accept before anything was seen: a Beta distribution with mean 0.7 and the weight of
#: two judgements. The mean is that of the estimates.
PRIOR = (1.4, 0.6)
#: Judgements remembered at full weight: a critic, or what it judges, may change.
MEMORY = 50.0
#: How many calls are remembered, so that none is counted twice.
_MOST_KEYS = 20_000


@dataclass(frozen=True, slots=True)
class Stakes:
    """What can be won and lost now.

    Attributes:
        draw_s: Seconds of a drawing.
        judge_s: Seconds of a judgement.
        price_usd: US dollars of one picture; `None` where nobody knows.
        second_usd: What a second less of waiting is worth, in US dollars.
        held: A lost bet keeps the backend from other work until it is drawn.
        chances: Probability of an accept by kind of step; of one that is not there, `PRIOR` says it.
    """

    draw_s: float
    judge_s: float
    price_usd: float | None = 0.0
    second_usd: float = 0.0
    held: bool = False
    chances: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    def chance(self, kind: str) -> float:
        """Probability that a picture of this kind of step is accepted."""
        return self.chances.get(kind, PRIOR[0] / sum(PRIOR))


def kind_of(op: str, attempt: int) -> str:
    """The kind of a step as far as its chances go: what is done, and whether the critic refined the prompt.

    Example:
        >>> kind_of("edit", 2)
        'edit/refined'
    """
    return op if attempt == 0 else f"{op}/refined"


def chance_of_each(chance: float, pictures: int) -> float:
    """Probability that one certain picture of several under judgement is the one that is accepted.

    Each is accepted with the same probability, independently, and the best of those is as likely any of them.

    Example:
        >>> round(chance_of_each(0.7, 1), 3), round(chance_of_each(0.7, 2), 3)
        (0.7, 0.455)
    """
    return (1.0 - (1.0 - chance) ** pictures) / pictures


def worth_a_bet(stakes: Stakes, sources: Sequence[tuple[str, int]], *, n: int = 1) -> bool:
    """Whether the next step should be drawn before its sources are judged: p x saved > (1 - p) x lost.

    Args:
        stakes: What can be won and lost.
        sources: For every source under judgement its kind, and how many of its pictures may still be accepted.
        n: Pictures that are drawn on the bet.

    Example:
        >>> free = Stakes(draw_s=10, judge_s=4, price_usd=0)
        >>> dear = Stakes(draw_s=10, judge_s=4, price_usd=0.2, second_usd=0.002)
        >>> worth_a_bet(free, [("edit", 1)]), worth_a_bet(dear, [("edit", 1)])
        (True, False)
    """
    if stakes.price_usd is None:
        return False  # what may be lost is not known
    won = math.prod(chance_of_each(stakes.chance(kind), pictures) for kind, pictures in sources)
    saved = min(stakes.draw_s, stakes.judge_s)
    waits = max(0.0, stakes.draw_s - stakes.judge_s) if stakes.held else 0.0
    dollars = stakes.price_usd * n
    if not dollars:
        # Time against time: no exchange of one for the other is needed.
        return won * saved >= (1.0 - won) * waits
    return stakes.second_usd * (won * saved - (1.0 - won) * waits) > (1.0 - won) * dollars


class Odds:
    """What is known of accepts, seconds and prices; learned from the calls of every run. Safe from any thread.

    Args:
        draw_s: Seconds a drawing is taken to last before one was seen.
        judge_s: The same of a judgement.
        price_usd: US dollars one picture is taken to cost; `None` where nobody knows.
        held: A lost bet keeps the backend from other work until it is drawn.

    Example:
        >>> odds = Odds(draw_s=10, judge_s=4)
        >>> for key in "abcdefgh":
        ...     odds.judged(key, "edit", accepted=False)
        >>> round(odds.stakes(0.002).chance("edit"), 2)
        0.14
    """

    def __init__(
        self, *, draw_s: float = 15.0, judge_s: float = 6.0, price_usd: float | None = 0.0, held: bool = False
    ) -> None:
        self._lock = threading.Lock()
        self._seconds = {"backend": _Mean(draw_s), "critic": _Mean(judge_s)}
        self._price = _Mean(price_usd)
        self._held = held
        self._accepts: dict[str, tuple[float, float]] = {}
        self._seen: dict[tuple[str, str], None] = {}

    def judged(self, key: str, kind: str, *, accepted: bool) -> None:
        """A critic has judged a picture; each judgement counts once.

        Args:
            key: Key of its call.
            kind: As `kind_of` says it.
            accepted: What it said.
        """
        with self._lock:
            if not self._first(("judged", key)):
                return
            yes, no = self._accepts.get(kind, PRIOR)
            yes, no = (yes + 1, no) if accepted else (yes, no + 1)
            fade = min(1.0, MEMORY / (yes + no))
            self._accepts[kind] = (yes * fade, no * fade)

    def took(
        self, key: str, role: str, seconds: float | None, *, cost_usd: float | None = None, images: int = 0
    ) -> None:
        """A call has ended; each counts once.

        Args:
            key: Its key.
            role: Whose it was.
            seconds: How long it took.
            cost_usd: What it cost, in US dollars.
            images: Pictures it drew.
        """
        with self._lock:
            if role not in self._seconds or not self._first(("took", key)):
                return
            if seconds is not None:
                self._seconds[role].add(seconds)
            if role == "backend" and cost_usd is not None and images:
                self._price.add(cost_usd / images)

    def learn(self, finished: Finished, kind: str | None = None) -> None:
        """Take in what came of a call; each counts once, however often it is answered from the ledger.

        Args:
            finished: Its record.
            kind: Of a judgement, the kind of step that was judged.
        """
        record = finished.record
        self.took(record.key, record.role, record.seconds, cost_usd=record.usage.cost_usd, images=record.images)
        said = finished.result.get("critique")
        if kind is not None and said is not None:
            self.judged(record.key, kind, accepted=said["verdict"] == "accept")

    def stakes(self, second_usd: float) -> Stakes:
        """What can be won and lost now, where a second less of waiting is worth so many US dollars."""
        with self._lock:
            chances = {kind: yes / (yes + no) for kind, (yes, no) in self._accepts.items()}
            return Stakes(
                draw_s=self._seconds["backend"].value or 0.0,
                judge_s=self._seconds["critic"].value or 0.0,
                price_usd=self._price.value,
                second_usd=second_usd,
                held=self._held,
                chances=MappingProxyType(chances),
            )

    def _first(self, name: tuple[str, str]) -> bool:
        if name in self._seen:
            return False
        self._seen[name] = None
        if len(self._seen) > _MOST_KEYS:
            del self._seen[next(iter(self._seen))]
        return True


class _Mean:
    """A running mean that takes a guess until it was given something."""

    def __init__(self, guess: float | None) -> None:
        self.value = guess
        self._weight = 0.0

    def add(self, value: float) -> None:
        self._weight = min(MEMORY, self._weight + 1.0)
        self.value = (
            value if self.value is None or self._weight == 1.0 else self.value + (value - self.value) / self._weight
        )
