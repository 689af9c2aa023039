"""The budget of one run: reserved before a call starts, settled when it ends.

What counts against the caps of `Limits` is what was used plus what is reserved, so calls that run at
the same time cannot pass a cap together. Work that is not certain to be needed (speculative) gets
only what certain work leaves: when a certain call would not fit, the newest speculative one that
can still be stopped is.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Literal

from langgraph_interleave.errors import LimitReached, Role
from langgraph_interleave.limits import Limits
from langgraph_interleave.types.usage import Spend, Usage

#: What became of a reservation.
_End = Literal["settled", "failed", "released", "ambiguous"]


class Reservation:
    """Room for one call within a budget. Ended exactly once; further endings do nothing.

    Attributes:
        role: Whose call it is for.
        calls: How many calls it reserves.
        images: How many pictures it reserves.
        certain: Whether the call is certain to be needed.
        key: Key of the call, for counting what was used in the end; may be empty.
        counted: The call was made before and counts as used already: it takes no room.
    """

    def __init__(
        self,
        budget: Budget,
        *,
        role: Role,
        calls: int,
        images: int,
        certain: bool,
        key: str,
        on_preempt: Callable[[], bool] | None,
    ) -> None:
        self._budget = budget
        self.role: Role = role
        self.calls = calls
        self.images = images
        self.certain = certain
        self.key = key
        self.on_preempt = on_preempt
        self.preempting = False
        self.counted = False

    def settle(self, usage: Usage, role: Role | None = None) -> None:
        """The call finished.

        Args:
            usage: What it used. Where it reports no pictures, the reserved ones count.
            role: Whose call it was, where that differs from the reservation.
        """
        self._budget._end(self, "settled", usage, role or self.role)  # pyright: ignore[reportPrivateUsage]

    def failed(self, usage: Usage = Usage()) -> None:
        """The call was answered, and without anything to use: it counts as a call, with what it used."""
        self._budget._end(self, "failed", usage, self.role)  # pyright: ignore[reportPrivateUsage]

    def release(self) -> None:
        """Nothing was produced, provably: the room is free again."""
        self._budget._end(self, "released", Usage(), self.role)  # pyright: ignore[reportPrivateUsage]

    def ambiguous(self, making: str = "") -> None:
        """Nobody knows whether the work was done: all of it counts as used.

        Args:
            making: Which making of which call it was, as for `Budget.count_ambiguous`.
        """
        self._budget._end(self, "ambiguous", Usage(images=self.images), self.role, making)  # pyright: ignore[reportPrivateUsage]

    def promote(self) -> None:
        """The call is certain from now on: it is neither stopped for another's sake nor waste."""
        self._budget._promote(self)  # pyright: ignore[reportPrivateUsage]


class Budget:
    """What one run may use, has reserved, and has used. Safe from several threads.

    Guaranteed: used plus reserved never passes a cap. Not guaranteed: money, where a provider
    reports none.

    Args:
        limits: The caps.
        clock: Seconds, monotonic. The run's time starts when the budget is made.

    Example:
        >>> budget = Budget(Limits(max_images=1))
        >>> budget.reserve(images=1).settle(Usage(images=1), "backend")
        >>> budget.reserve(images=1)
        Traceback (most recent call last):
        ...
        langgraph_interleave.errors.LimitReached: Limit max_images reached: 1 of 1 used. ...
    """

    def __init__(self, limits: Limits, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits = limits
        self._clock = clock
        self._start = clock()
        self._lock = threading.Lock()
        self._open: list[Reservation] = []
        self._calls: Counter[str] = Counter()
        self._before = 0.0
        self._usage = Usage()
        self._costs: list[float | None] = []
        self._made: set[str] = set()
        self._counted: set[str] = set()
        self._replayed: set[str] = set()
        self._unused: set[str] = set()
        self._ambiguous = 0
        self._makings: set[str] = set()
        self._expected: dict[str, Reservation] = {}

    def reserve(
        self,
        *,
        calls: int = 1,
        images: int = 0,
        certain: bool = True,
        role: Role = "backend",
        key: str = "",
        on_preempt: Callable[[], bool] | None = None,
    ) -> Reservation:
        """Make room for a call before it starts.

        Args:
            calls: Calls it makes.
            images: Pictures it draws at most.
            certain: Whether its result is certain to be needed.
            role: Whose call it is.
            key: Key of the call.
            on_preempt: For speculative calls: stops the call and returns whether that was still
                possible (then nothing of it may count). Called without any lock of the budget held.

        Raises:
            LimitReached: There is no room; it names the limit.
        """
        wanted = Reservation(
            self, role=role, calls=calls, images=images, certain=certain, key=key, on_preempt=on_preempt
        )
        refused: set[int] = set()
        with self._lock:
            self._no_more_expected(key)
            wanted.counted = key in self._counted
        while True:
            with self._lock:
                problem = self._passes(wanted)
                if problem is None:
                    self._open.append(wanted)
                    return wanted
                if not certain or problem.limit == "max_seconds":
                    raise problem
                victim = self._newest_speculative(problem.limit, refused)
                if victim is None:
                    raise problem
                victim.preempting = True
            if victim.on_preempt is not None and victim.on_preempt():
                victim.release()
            else:
                victim.preempting = False
                refused.add(id(victim))

    def count_prior(self, key: str, role: Role, usage: Usage) -> None:
        """A call of an earlier invocation of this run: it counts as used. Counted once per key.

        Args:
            key: Key of the call.
            role: Whose call it was.
            usage: What it used when it was made.
        """
        with self._lock:
            if key not in self._counted:
                self._count(key, role, usage)

    def expect(self, key: str, role: Role, *, images: int = 0) -> None:
        """A call of another invocation of this run is under way: it holds its room until it is known what came of it.

        Args:
            key: Key of the call.
            role: Whose call it is.
            images: Pictures it draws at most.
        """
        held = Reservation(self, role=role, calls=1, images=images, certain=True, key=key, on_preempt=None)
        with self._lock:
            if key not in self._counted and key not in self._expected:
                self._expected[key] = held
                self._open.append(held)

    def count_replay(self, key: str, role: Role, usage: Usage) -> None:
        """A call was answered from the ledger: it counts as used, and as replayed unless this run made it.

        Args:
            key: Key of the call; counted once.
            role: Whose call it was.
            usage: What it used when it was made.
        """
        with self._lock:
            self._no_more_expected(key)
            if key not in self._counted:
                self._count(key, role, usage)
            if key not in self._made:
                self._replayed.add(key)
            self._unused.discard(key)

    def count_ambiguous(self, role: Role, *, billed: bool = True, images: int = 0, making: str = "") -> bool:
        """An earlier call turned out to be ambiguous: started, and nobody knows what became of it.

        Args:
            role: Whose call it was.
            billed: Whether it may have cost money; then it counts as a call as well.
            images: Pictures it may have drawn.
            making: Which making of which call it was; each is counted once.

        Returns:
            Whether it was not counted yet.
        """
        with self._lock:
            if making and making in self._makings:
                return False
            self._makings.add(making)
            self._ambiguous += 1
            if billed:
                self._calls[role] += 1
                self._usage += Usage(images=images)
            return True

    def use(self, key: str) -> None:
        """The result of this call is used after all: it is not waste."""
        with self._lock:
            self._unused.discard(key)

    def remaining_seconds(self) -> float | None:
        """Seconds left until `max_seconds`, never below 0; `None` without that limit."""
        if self.limits.max_seconds is None:
            return None
        return max(0.0, self.limits.max_seconds - self.seconds)

    def carry(self, seconds: float) -> None:
        """Earlier invocations of the run took so long; that counts as spent, but not against `max_seconds`."""
        self._before = seconds

    @property
    def seconds(self) -> float:
        """Seconds since the budget was made."""
        return self._clock() - self._start

    def spend(self) -> Spend:
        """What the run has used so far.

        `cost_usd` is known only when every counted call reported it; ambiguous calls are counted in
        `ambiguous` and have no part in it.
        """
        with self._lock:
            known = [cost for cost in self._costs if cost is not None]
            return Spend(
                calls={role: self._calls[role] for role in sorted(self._calls) if self._calls[role]},
                images=self._usage.images,
                input_tokens=self._usage.input_tokens,
                output_tokens=self._usage.output_tokens,
                cached_tokens=self._usage.cached_tokens,
                cost_usd=sum(known) if self._costs and len(known) == len(self._costs) else None,
                replayed=len(self._replayed),
                wasted=len(self._unused),
                ambiguous=self._ambiguous,
                seconds=self._before + self.seconds,
            )

    # -- with the lock held ----------------------------------------------------------------------

    def _passes(self, wanted: Reservation) -> LimitReached | None:
        limits = self.limits
        if limits.max_seconds is not None and self.seconds >= limits.max_seconds:
            return LimitReached("max_seconds", used=self.seconds, cap=limits.max_seconds)
        if wanted.counted:
            return None
        # `used` in the message is what others hold as well; only that explains the refusal.
        held = [other for other in self._open if not other.counted]
        calls = sum(self._calls.values()) + sum(other.calls for other in held)
        if limits.max_calls is not None and calls + wanted.calls > limits.max_calls:
            return LimitReached("max_calls", used=calls, cap=limits.max_calls)
        images = self._usage.images + sum(other.images for other in held)
        if limits.max_images is not None and wanted.images and images + wanted.images > limits.max_images:
            return LimitReached("max_images", used=images, cap=limits.max_images)
        return None

    def _newest_speculative(self, limit: str, refused: set[int]) -> Reservation | None:
        for other in reversed(self._open):
            helps = other.calls if limit == "max_calls" else other.images
            if helps and not other.counted and not other.certain and not other.preempting and id(other) not in refused:
                return other
        return None

    def _no_more_expected(self, key: str) -> None:
        held = self._expected.pop(key, None)
        if held is not None:
            self._open.remove(held)

    def _count(self, key: str, role: Role, usage: Usage, calls: int = 1) -> None:
        if key:
            self._counted.add(key)
        self._calls[role] += usage.calls or calls
        self._usage += usage
        self._costs.append(usage.cost_usd)

    # -- for reservations ------------------------------------------------------------------------

    def _end(self, reservation: Reservation, end: _End, usage: Usage, role: Role, making: str = "") -> None:
        with self._lock:
            if reservation not in self._open:
                return
            self._open.remove(reservation)
            if end == "settled":
                if not usage.images and reservation.images:
                    usage = usage.model_copy(update={"images": reservation.images})
                self._made.add(reservation.key)
                self._count(reservation.key, role, usage, reservation.calls)
            elif end == "failed":
                # Not under its key: the call is made anew when it is asked for again.
                self._count("", role, usage, reservation.calls)
            elif end == "ambiguous":
                self._ambiguous += 1
                self._calls[role] += reservation.calls
                self._usage += usage
                if making:
                    self._makings.add(making)
            if end in ("settled", "ambiguous") and not reservation.certain:
                self._unused.add(reservation.key)

    def _promote(self, reservation: Reservation) -> None:
        with self._lock:
            reservation.certain = True
            self._unused.discard(reservation.key)
