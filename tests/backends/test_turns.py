"""Turns: never more at once than allowed, from any loop, and none lost by those who give up."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from langgraph_interleave.backends.turns import Turns


def test_loops_in_several_threads_share_the_turns() -> None:
    turns, guard = Turns(2), threading.Lock()
    running = most = done = 0

    async def one() -> None:
        nonlocal running, most, done
        async with turns:
            with guard:
                running += 1
                most = max(most, running)
            await asyncio.sleep(0.002)
            with guard:
                running -= 1
                done += 1

    async def several() -> None:
        await asyncio.gather(*(one() for _ in range(5)))

    threads = [threading.Thread(target=lambda: asyncio.run(several())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert (most, done, running) == (2, 20, 0)


async def test_they_come_in_order() -> None:
    turns, order = Turns(1), list[int]()

    async def one(number: int) -> None:
        async with turns:
            order.append(number)
            await asyncio.sleep(0)

    await asyncio.gather(*(one(number) for number in range(6)))
    assert order == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("ticks", range(5))
async def test_who_gives_up_loses_nobody_a_turn(ticks: int) -> None:
    turns = Turns(1)

    async def held(seconds: float) -> None:
        async with turns:
            await asyncio.sleep(seconds)

    first = asyncio.ensure_future(held(0))
    await asyncio.sleep(0)
    second = asyncio.ensure_future(held(0.001))
    for _ in range(ticks):
        await asyncio.sleep(0)
    second.cancel()
    await asyncio.gather(first, second, return_exceptions=True)
    began = time.monotonic()
    await asyncio.wait_for(held(0), 2)
    assert time.monotonic() - began < 1
