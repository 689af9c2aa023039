"""Waiting for what others wait for too."""

from __future__ import annotations

from concurrent.futures import Future


class GivenUp(Exception):
    """A call was let go of before it ended."""


def own_copy(future: Future[None]) -> Future[None]:
    """A future of one's own: cancelling it leaves the shared one alone."""
    mine: Future[None] = Future()

    def pass_on(done: Future[None]) -> None:
        if not mine.set_running_or_notify_cancel():
            return
        error = done.exception()
        if error is not None:
            mine.set_exception(error)
        else:
            mine.set_result(None)

    future.add_done_callback(pass_on)
    return mine
