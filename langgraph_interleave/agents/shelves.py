"""The galleries of conversations that no agent keeps: tools called by a node of a graph, or by hand."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

from langgraph_interleave.agents.gallery import Gallery, KnownVersion

#: Conversations that are remembered; the documents of one that was not used for longer are in the store alone.
_REMEMBERED = 1000


class Shelves:
    """One gallery for each thread, in memory; one for all calls without a thread. Safe to use from threads.

    Example:
        >>> shelves = Shelves()
        >>> first = lambda number: KnownVersion(version=number, digest="a" * 64, outcome="complete", steps=1)
        >>> shelves.add("alice", None, "A bean", first)[0], shelves.gallery("bob").documents
        ('doc_1', ())
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._galleries: OrderedDict[str | None, Gallery] = OrderedDict()

    def gallery(self, thread: str | None) -> Gallery:
        """What there is on a thread."""
        with self._lock:
            if thread in self._galleries:
                self._galleries.move_to_end(thread)
            return self._galleries.get(thread, Gallery())

    def add(
        self, thread: str | None, document: str | None, title: str, made: Callable[[int], KnownVersion]
    ) -> tuple[str, KnownVersion]:
        """Add a version; its number is the next one now, whatever was being made at the same time.

        Args:
            thread: The thread.
            document: Which document is changed; a new one without.
            title: Its title.
            made: From the number to the version.

        Returns:
            The document's id and the version.
        """
        with self._lock:
            gallery = self._galleries.get(thread, Gallery())
            name = document or gallery.next_document()
            known = next((one for one in gallery.documents if one.id == name), None)
            version = made(known.versions[-1].version + 1 if known else 1)
            self._put(thread, gallery.with_version(name, title, version))
        return name, version

    def restore(self, thread: str | None, document: str, title: str, version: KnownVersion) -> None:
        """Make a version that is there the current one."""
        with self._lock:
            gallery = self._galleries.get(thread, Gallery())
            self._put(thread, gallery.with_version(document, title, version))

    def _put(self, thread: str | None, gallery: Gallery) -> None:
        self._galleries[thread] = gallery
        self._galleries.move_to_end(thread)
        while len(self._galleries) > _REMEMBERED:
            self._galleries.popitem(last=False)
