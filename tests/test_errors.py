"""The tree of exceptions: each says what and what to do, and crosses a process boundary."""

from __future__ import annotations

import inspect
import pickle

import pytest

from langgraph_interleave import errors
from langgraph_interleave.errors import CallError, InterleaveError, LimitReached

TREE = [
    error
    for _, error in inspect.getmembers(errors, inspect.isclass)
    if issubclass(error, InterleaveError) and error is not LimitReached
]


def test_the_docstring_draws_the_whole_tree() -> None:
    drawn = errors.__doc__ or ""
    assert all(error.__name__ in drawn for error in [*TREE, LimitReached])


@pytest.mark.parametrize("error", TREE, ids=lambda error: error.__name__)
def test_message_and_remedy_are_told_together(error: type[InterleaveError]) -> None:
    raised = error("It broke.", remedy="Mend it.")
    assert str(raised) == "It broke. Mend it."
    copy = pickle.loads(pickle.dumps(raised))
    assert type(copy) is error and str(copy) == str(raised) and vars(copy) == vars(raised)


def test_a_limit_names_itself_and_the_remedy() -> None:
    limit = LimitReached("max_images", used=3, cap=3)
    assert str(limit) == (
        "Limit max_images reached: 3 of 3 used. Raise limits.max_images, or take the document as it is."
    )
    copy = pickle.loads(pickle.dumps(limit))
    assert (copy.limit, copy.used, copy.cap, str(copy)) == ("max_images", 3, 3, str(limit))


def test_what_may_be_sent_again_was_provably_not_produced() -> None:
    calls = [error for error in TREE if issubclass(error, CallError)]
    assert {error.__name__ for error in calls if error.resendable} == {"RateLimited", "Unavailable"}
    assert {error.__name__ for error in calls if error.ambiguous} == {"CallTimeout", "BadResponse"}
    assert not any(error.resendable and error.ambiguous for error in calls)
    assert CallError("x", ambiguous=True).ambiguous
