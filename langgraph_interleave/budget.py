"""The budget of one run: reserved before a call starts, settled when it ends.

What counts against the caps of `Limits` is what was used plus what is reserved, in the run and in each
step, so calls that run at the same time cannot pass a cap together. Work that is not certain to be
needed (speculative) gets only what certain work leaves: when a certain call would not fit, the newest
speculative one that can still be stopped is.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable

from langgraph_interleave.amounts import Amount, passed
from langgraph_interleave.errors import LimitReached, Role
from langgraph_interleave.limits import Limits, no_price
from langgraph_interleave.reservation import End, Reservation
from langgraph_interleave.types.usage import Spend, Usage


class Budget:
    """What one run may use, has reserved, and has used. Safe from several threads.

    Guaranteed: used plus reserved never passes a cap, with one exception: a call that turns out to cost
    more than was reserved for it is counted as it is, and may pass a cap on money by the difference. From
    then on as much is reserved for every call of its role. A call whose cost nobody reports counts against
    such a cap as it was reserved; so does an ambiguous one.

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
        self._earlier = 0.0
        self._usage = Usage()
        self._costs: list[float | None] = []
        self._made: set[str] = set()
        self._counted: set[str] = set()
        self._replayed: set[str] = set()
        self._unused: set[str] = set()
        self._ambiguous: list[float | None] = []
        self._used = Amount()
        self._used_by: defaultdict[int, Amount] = defaultdict(Amount)
        self._begun: dict[int, float] = {}
        self._dearest: dict[Role, float] = {}
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
        step: int | None = None,
        price_usd: float | None = None,
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
            step: Which step it is for, if for one.
            price_usd: US dollars it is expected to cost at most, 0 where it is free; `None` where
                nobody knows. More is reserved where a call of this role has cost more.

        Raises:
            LimitReached: There is no room; it names the limit.
            ConfigError: There is a cap on money, and the price is not known.
        """
        wanted = Reservation(
            self, role=role, calls=calls, images=images, certain=certain, key=key, on_preempt=on_preempt, step=step,
            price_usd=price_usd,
        )  # fmt: skip
        refused: set[int] = set()
        with self._lock:
            self._no_more_expected(key)
            wanted.counted = key in self._counted
            wanted.price_usd = self._priced(role, price_usd, images)
            if wanted.price_usd is None and not wanted.counted and (cap := self.limits.on_money):
                raise no_price(cap, f"a {role} call")
            if step is not None:
                self._begun.setdefault(step, self._clock())
        while True:
            with self._lock:
                problem = self._passes(wanted)
                if problem is None:
                    self._open.append(wanted)
                    return wanted
                if not certain or problem.limit.endswith("max_seconds"):
                    raise problem
                victim = self._newest_speculative(problem.limit, wanted, refused)
                if victim is None:
                    raise problem
                victim.preempting = True
            if victim.on_preempt is not None and victim.on_preempt():
                victim.release()
            else:
                victim.preempting = False
                refused.add(id(victim))

    def count_prior(
        self, key: str, role: Role, usage: Usage, *, step: int | None = None, price_usd: float | None = None
    ) -> None:
        """A call of an earlier invocation of this run: it counts as used. Counted once per key.

        Args:
            key: Key of the call.
            role: Whose call it was.
            usage: What it used when it was made.
            step: Which step it was for.
            price_usd: What it was expected to cost.
        """
        with self._lock:
            if key not in self._counted:
                self._count(key, role, usage, step=step, price_usd=price_usd)

    def expect(
        self, key: str, role: Role, *, images: int = 0, step: int | None = None, price_usd: float | None = None
    ) -> None:
        """A call of another invocation of this run is under way: it holds its room until it is known what came of it.

        Args:
            key: Key of the call.
            role: Whose call it is.
            images: Pictures it draws at most.
            step: Which step it is for.
            price_usd: What it is expected to cost.
        """
        held = Reservation(
            self, role=role, calls=1, images=images, certain=True, key=key, on_preempt=None, step=step,
            price_usd=price_usd,
        )  # fmt: skip
        with self._lock:
            if key not in self._counted and key not in self._expected:
                self._expected[key] = held
                self._open.append(held)

    def count_replay(
        self, key: str, role: Role, usage: Usage, *, step: int | None = None, price_usd: float | None = None
    ) -> None:
        """A call was answered from the ledger: it counts as used, and as replayed unless this run made it.

        Args:
            key: Key of the call; counted once.
            role: Whose call it was.
            usage: What it used when it was made.
            step: Which step it is for.
            price_usd: What it was expected to cost.
        """
        with self._lock:
            self._no_more_expected(key)
            if key not in self._counted:
                self._count(key, role, usage, step=step, price_usd=price_usd)
            if key not in self._made:
                self._replayed.add(key)
            self._unused.discard(key)

    def count_ambiguous(
        self,
        role: Role,
        *,
        billed: bool = True,
        images: int = 0,
        making: str = "",
        step: int | None = None,
        price_usd: float | None = None,
    ) -> bool:
        """An earlier call turned out to be ambiguous: started, and nobody knows what became of it.

        Args:
            role: Whose call it was.
            billed: Whether it may have cost money; then it counts as a call as well.
            images: Pictures it may have drawn.
            making: Which making of which call it was; each is counted once.
            step: Which step it was for.
            price_usd: What it may have cost; `None` where nobody knows.

        Returns:
            Whether it was not counted yet.
        """
        with self._lock:
            if making and making in self._makings:
                return False
            self._makings.add(making)
            price = self._priced(role, price_usd, images) if billed else 0.0
            self._ambiguous.append(price)
            if billed:
                self._calls[role] += 1
                self._usage += Usage(images=images)
                self._take(Amount(1, images, price or 0.0), step)
            return True

    @property
    def counted(self) -> frozenset[str]:
        """Keys of the calls that are counted, or will be once they end."""
        with self._lock:
            ours = {held.key for held in self._open if self._expected.get(held.key) is not held}
            return frozenset(self._counted | ours)

    def use(self, key: str) -> None:
        """The result of this call is used after all: it is not waste."""
        with self._lock:
            self._unused.discard(key)

    def remaining_seconds(self, step: int | None = None) -> float | None:
        """Seconds left until `max_seconds`, or `step_max_seconds` of a step; never below 0, `None` without a limit."""
        left = [cap - used for _, used, cap in self._times(step)]
        return max(0.0, min(left)) if left else None

    def out_of_time(self, step: int | None = None) -> LimitReached | None:
        """The cap on time that leaves the least, as reached, whether it is yet or not; `None` without one."""
        times = self._times(step)
        if not times:
            return None
        limit, used, cap = min(times, key=lambda time: time[2] - time[1])
        return LimitReached(limit, used=max(used, cap), cap=cap)

    def carry(self, seconds: float) -> None:
        """Earlier invocations of the run took so long; that counts as spent, but not against `max_seconds`."""
        self._before = seconds

    @property
    def elapsed(self) -> float:
        """Seconds of this invocation, those of plans before this one included: what `max_seconds` caps."""
        return self._earlier + self.seconds

    def go_on(self, earlier: Budget) -> None:
        """Time goes on from a budget of the same invocation: a plan made anew gets no time anew."""
        self._earlier = earlier.elapsed

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
            maybe = [cost for cost in self._ambiguous if cost is not None]
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
                ambiguous=len(self._ambiguous),
                ambiguous_cost_usd=sum(maybe) if maybe and len(maybe) == len(self._ambiguous) else None,
                seconds=self._before + self.elapsed,
            )

    # -- with the lock held ----------------------------------------------------------------------

    def _times(self, step: int | None) -> list[tuple[str, float, float]]:
        """The caps on time: name, what is used of it, cap."""
        times: list[tuple[str, float, float]] = []
        if self.limits.max_seconds is not None:
            times.append(("max_seconds", self.elapsed, self.limits.max_seconds))
        if self.limits.step_max_seconds is not None and step in self._begun:
            times.append(("step_max_seconds", self._clock() - self._begun[step], self.limits.step_max_seconds))
        return times

    def _passes(self, wanted: Reservation) -> LimitReached | None:
        for limit, used, cap in self._times(wanted.step):
            if used >= cap:
                return LimitReached(limit, used=used, cap=cap)
        if wanted.counted:
            return None
        # `used` in the message is what others hold as well; only that explains the refusal.
        held = sum((other.amount for other in self._open), self._used)
        problem = passed(self.limits, held, wanted.amount)
        if problem is not None or wanted.step is None:
            return problem
        mine = (other.amount for other in self._open if other.step == wanted.step)
        return passed(self.limits, sum(mine, self._used_by[wanted.step]), wanted.amount, step=True)

    def _newest_speculative(self, limit: str, wanted: Reservation, refused: set[int]) -> Reservation | None:
        for other in reversed(self._open):
            if other.certain or other.preempting or id(other) in refused or not other.amount.of(limit):
                continue
            if other.step == wanted.step or not limit.startswith("step_"):
                return other
        return None

    def _priced(self, role: Role, price_usd: float | None, images: int) -> float | None:
        """What a call may cost: as expected, or as the dearest of its role has, where that is more."""
        dearest = self._dearest.get(role)
        if dearest is None:
            return price_usd
        seen = dearest * max(1, images)
        return seen if price_usd is None else max(price_usd, seen)

    def _no_more_expected(self, key: str) -> None:
        held = self._expected.pop(key, None)
        if held is not None:
            self._open.remove(held)

    def _count(
        self,
        key: str,
        role: Role,
        usage: Usage,
        calls: int = 1,
        *,
        step: int | None = None,
        price_usd: float | None = None,
    ) -> None:
        if key:
            self._counted.add(key)
        self._calls[role] += usage.calls or calls
        self._usage += usage
        self._costs.append(usage.cost_usd)
        cost = usage.cost_usd
        if cost is None:
            cost = self._priced(role, price_usd, usage.images)
        else:
            self._dearest[role] = max(self._dearest.get(role, 0.0), cost / max(1, usage.images))
        self._take(Amount(usage.calls or calls, usage.images, cost or 0.0), step)

    def _take(self, amount: Amount, step: int | None) -> None:
        self._used += amount
        if step is not None:
            self._used_by[step] += amount

    # -- for reservations ------------------------------------------------------------------------

    def _end(self, reservation: Reservation, end: End, usage: Usage, role: Role, making: str = "") -> None:
        with self._lock:
            if reservation not in self._open:
                return
            self._open.remove(reservation)
            if end == "settled":
                if not usage.images and reservation.images:
                    usage = usage.model_copy(update={"images": reservation.images})
                self._made.add(reservation.key)
                self._count(
                    reservation.key, role, usage, reservation.calls, step=reservation.step,
                    price_usd=reservation.price_usd,
                )  # fmt: skip
            elif end == "failed":
                # Not under its key: the call is made anew when it is asked for again.
                self._count("", role, usage, reservation.calls, step=reservation.step, price_usd=reservation.price_usd)
            elif end == "ambiguous":
                self._ambiguous.append(reservation.price_usd)
                self._calls[role] += reservation.calls
                self._usage += usage
                self._take(Amount(reservation.calls, usage.images, reservation.price_usd or 0.0), reservation.step)
                if making:
                    self._makings.add(making)
            if end in ("settled", "ambiguous") and not reservation.certain:
                self._unused.add(reservation.key)

    def _promote(self, reservation: Reservation) -> None:
        with self._lock:
            reservation.certain = True
            self._unused.discard(reservation.key)
