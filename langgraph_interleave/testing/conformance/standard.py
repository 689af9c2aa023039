"""The conformance suite as a pytest class to subclass: one test per item."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import pytest

from langgraph_interleave._sync import run_sync
from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.testing.conformance.subject import Options, Subject
from langgraph_interleave.testing.conformance.suite import ITEMS, found


class BackendConformance:
    """Subclass it in your tests, say how your backend is made, and pytest runs every item as a test of its own.

    What does not apply to your backend, or cannot be told from outside, is skipped with the reason. The
    pictures of one class are drawn once. Where an item is known to fail, override its test and mark it
    `xfail` with the reason.

    A backend whose calls cost money is refused until `options` says `allow_billed=True`.

    Example:
        >>> from langgraph_interleave.testing import BackendConformance, ScriptedBackend
        >>> class TestMine(BackendConformance):
        ...     def make_backend(self):
        ...         return ScriptedBackend()
    """

    #: How the backend is tried.
    options: ClassVar[Options] = Options()

    @abstractmethod
    def make_backend(self) -> ImageBackend:
        """Make the backend; called more than once."""

    @pytest.fixture
    def subject(self) -> Subject:
        """The backend under trial, one for all tests of the class."""
        kind = type(self)
        known = kind.__dict__.get("_subject")
        if known is None:
            known = Subject(self.make_backend, kind.options)
            kind._subject = known  # type: ignore[attr-defined]
        return known

    def test_contract(self, subject: Subject) -> None:
        """It says who it is and what it can do, and the same the next time."""
        check("contract", subject)

    def test_draws(self, subject: Subject) -> None:
        """It draws a whole picture that is what it says it is."""
        check("draws", subject)

    def test_usage(self, subject: Subject) -> None:
        """It counts what it used."""
        check("usage", subject)

    def test_size_as_asked(self, subject: Subject) -> None:
        """It draws a size it takes as asked."""
        check("size_as_asked", subject)

    def test_odd_sizes(self, subject: Subject) -> None:
        """It draws odd sizes, or says which size came."""
        check("odd_sizes", subject)

    def test_extreme_sizes(self, subject: Subject) -> None:
        """It refuses impossible sizes, or says which size came."""
        check("extreme_sizes", subject)

    def test_batch(self, subject: Subject) -> None:
        """It draws several pictures in one call."""
        check("batch", subject)

    def test_progress(self, subject: Subject) -> None:
        """It tells how far it is."""
        check("progress", subject)

    def test_empty_prompt(self, subject: Subject) -> None:
        """It draws or refuses a prompt without words."""
        check("empty_prompt", subject)

    def test_long_prompt(self, subject: Subject) -> None:
        """It says so when a prompt is too long."""
        check("long_prompt", subject)

    def test_wrong_numbers(self, subject: Subject) -> None:
        """It refuses numbers that cannot be."""
        check("wrong_numbers", subject)

    def test_edits(self, subject: Subject) -> None:
        """It edits a reference in its own shape, or says that it does not."""
        check("edits", subject)

    def test_references_arrive(self, subject: Subject) -> None:
        """It draws from its references."""
        check("references_arrive", subject)

    def test_references_order(self, subject: Subject) -> None:
        """It keeps the order of its references."""
        check("references_order", subject)

    def test_every_reference(self, subject: Subject) -> None:
        """It draws from each of them, or says so."""
        check("every_reference", subject)

    def test_too_many_references(self, subject: Subject) -> None:
        """It says so when there are too many."""
        check("too_many_references", subject)

    def test_broken_reference(self, subject: Subject) -> None:
        """It says so when one is no picture."""
        check("broken_reference", subject)

    def test_mask(self, subject: Subject) -> None:
        """It keeps what a mask keeps, or says so."""
        check("mask", subject)

    def test_negative_prompt(self, subject: Subject) -> None:
        """It minds a negative prompt, or says so."""
        check("negative_prompt", subject)

    def test_transparent(self, subject: Subject) -> None:
        """It draws on a transparent ground, or says so."""
        check("transparent", subject)

    def test_same_seed(self, subject: Subject) -> None:
        """The same seed gives the same bytes, where it says so."""
        check("same_seed", subject)

    def test_other_seed(self, subject: Subject) -> None:
        """Another seed gives another picture, where it says so."""
        check("other_seed", subject)

    def test_concurrency(self, subject: Subject) -> None:
        """It draws several at once, each as alone."""
        check("concurrency", subject)

    def test_cancellation(self, subject: Subject) -> None:
        """It ends when it is cancelled, and draws the next."""
        check("cancellation", subject)

    def test_deadline(self, subject: Subject) -> None:
        """It keeps a deadline."""
        check("deadline", subject)

    def test_metadata(self, subject: Subject) -> None:
        """It keeps private metadata of references out of pictures."""
        check("metadata", subject)

    def test_provenance(self, subject: Subject) -> None:
        """It marks its pictures as made by a machine."""
        check("provenance", subject)

    def test_silence(self, subject: Subject) -> None:
        """It puts neither bytes nor secrets into words."""
        check("silence", subject)


def check(name: str, subject: Subject) -> None:
    """Try one item; a failure fails the test, what does not apply skips it."""
    item = next(item for item in ITEMS if item.name == name)
    finding = run_sync(lambda: found(item, subject))
    if finding.status == "failed":
        pytest.fail(finding.text, pytrace=False)
    if finding.status != "passed":
        pytest.skip(f"{finding.status}: {finding.says}")
