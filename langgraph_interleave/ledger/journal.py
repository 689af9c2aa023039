"""The records of calls in the store: reading, claiming, renewing and ending them.

The order is: record *started*, make the call, store the artifact, record *finished*. A record that
stays at *started* therefore means that nobody knows what became of the call.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from langgraph_interleave.artifacts import ArtifactStore, canonical_json
from langgraph_interleave.errors import ArtifactMissing, ConfigError, InternalError
from langgraph_interleave.ledger.owner import is_gone, new_owner
from langgraph_interleave.ledger.records import (
    Call,
    CallRecord,
    CallStatus,
    Produced,
    artifacts_of,
    problem_of,
)
from langgraph_interleave.migrations import read_form
from langgraph_interleave.types.record import Problem
from langgraph_interleave.types.usage import Usage

log = logging.getLogger(__name__)

#: A larger result is stored as an artifact, and the record names it: records stay a few kB.
_MOST_BYTES = 3000
#: Writers that got in between, at most, before the record of a result is given up.
_TRIES = 20

_LOST = Problem(error="ArtifactMissing", message="The record or its result is damaged.", remedy="It is made again.")


@dataclass(frozen=True, slots=True)
class Found:
    """What the store says about a call.

    Attributes:
        raw: The stored object, `None` when there is none.
        record: The same as a record, with its result.
        damaged: Something is there that cannot be read; it is replaced without being compared.
        lost: The call was finished, and this of what it made is gone or damaged.
    """

    raw: dict[str, Any] | None
    record: CallRecord | None
    damaged: bool = False
    lost: ArtifactMissing | None = None


@dataclass(slots=True)
class Claim:
    """A call this process has recorded as started.

    Attributes:
        raw: The stored object, as last written.
        record: The same as a record.
        took_over: The ambiguous earlier making of the call, if there was one.
    """

    raw: dict[str, Any]
    record: CallRecord
    took_over: CallRecord | None


class Journal:
    """The call records of one store, as written by one ledger.

    Args:
        artifacts: The store.
        lease_s: Seconds for which others wait for a started call without a sign of life.
    """

    def __init__(self, artifacts: ArtifactStore, *, lease_s: float) -> None:
        self.artifacts = artifacts
        self.lease_s = lease_s
        self.owner = new_owner()

    async def read(self, call: Call) -> Found:
        """What is known of a call.

        Raises:
            ConfigError: The store cannot be read, or the record is of a newer release; nothing was spent.
        """
        try:
            raw = await self.artifacts.aread_call(call.scope, call.key)
            if raw is None:
                return Found(None, None)
            record = _as_record(raw)
        except ArtifactMissing as error:
            log.warning("call %s of %s is made again: %s", call.key, call.scope, error)
            lost = CallRecord(**_names(call), status="ambiguous", problem=_LOST)
            return Found(None, lost, damaged=True)
        except OSError as error:
            raise self._unreadable(error) from error
        if record.status != "finished":
            return Found(raw, record)
        try:
            record = await self.hydrate(record)
            named = artifacts_of(record.result or {}) + ([record.result_ref] if record.result_ref else [])
            await self._needed(raw, record, named)
        except ArtifactMissing as error:
            return Found(raw, record, lost=_lost(record, error))
        except OSError as error:
            raise self._unreadable(error) from error
        return Found(raw, record)

    def _unreadable(self, error: OSError) -> ConfigError:
        return ConfigError(
            f"The artifact store {self.artifacts!r} cannot be read: {error}",
            remedy="Check that it is there, and the permissions.",
        )

    async def hydrate(self, record: CallRecord) -> CallRecord:
        """A record with its result, where that is kept apart.

        Raises:
            ArtifactMissing: The result is gone.
        """
        if record.result_ref is None:
            return record
        return record.model_copy(update={"result": await self.artifacts.aget_json(record.result_ref)})

    async def _needed(self, raw: dict[str, Any], record: CallRecord, named: list[str]) -> None:
        """It is used again, and so is all it names: nobody who clears up may take it for old."""
        try:
            await self.artifacts.arenew_call(record.scope, record.key, raw, named)
        except OSError:
            # From a store that cannot be written nothing can be removed either.
            for digest in named:
                await self.artifacts.aget(digest)

    def is_others(self, record: CallRecord) -> bool:
        """Whether another ledger is making this call right now and may be waited for."""
        return (
            record.status == "started"
            and record.owner != self.owner
            and record.lease_until > time.time()
            and not is_gone(record.owner)
        )

    async def claim(self, call: Call, found: Found) -> Claim | None:
        """Record a call as started.

        Args:
            call: The call.
            found: What `read` said; nothing may have changed since.

        Returns:
            The claim; `None` when somebody else was faster.

        Raises:
            ConfigError: The store cannot be written; nothing was spent.
        """
        now = time.time()
        earlier = found.record if found.record and found.record.status in ("started", "ambiguous") else None
        record = CallRecord(
            **_names(call),
            status="started",
            owner=self.owner,
            lease_until=now + self.lease_s,
            t_start=now,
            ambiguous_before=(found.record.ambiguous_before if found.record else 0) + (earlier is not None),
            failed=_used_in_vain(found),
        )
        raw = record.model_dump(mode="json", exclude_none=True)
        try:
            if found.damaged:
                await self.artifacts.awrite_call(call.scope, call.key, raw)
            elif not await self.artifacts.aswap_call(call.scope, call.key, found.raw, raw):
                return None
        except ArtifactMissing:
            return None
        except OSError as error:
            raise ConfigError(
                f"The artifact store {self.artifacts!r} cannot be written: {error}",
                remedy="Free some space, check the permissions, or choose another folder.",
            ) from error
        return Claim(raw, record, earlier)

    async def renew(self, claim: Claim) -> None:
        """Tell others that the call is still being made."""
        record = claim.record.model_copy(update={"lease_until": time.time() + self.lease_s})
        raw = record.model_dump(mode="json", exclude_none=True)
        try:
            if await self.artifacts.aswap_call(record.scope, record.key, claim.raw, raw):
                claim.raw, claim.record = raw, record
        except (OSError, ArtifactMissing) as error:
            # The call itself is not in danger; at worst another process makes it as well.
            log.warning("the lease of call %s could not be renewed: %s", record.key, error)

    async def finish(self, claim: Claim, produced: Produced) -> CallRecord:
        """Record what a call produced.

        Returns:
            The record, with its result; also when it could not be stored (then a warning is logged:
            what was paid for is not thrown away).

        Raises:
            InternalError: The result is no JSON object.
        """
        started = claim.record
        usage = produced.usage
        if not usage.images and started.images:
            usage = usage.model_copy(update={"images": started.images})
        if usage.cost_usd is None and not started.billed:
            usage = usage.model_copy(update={"cost_usd": 0.0})
        record = started.model_copy(
            update={"status": "finished", "t_end": time.time(), "usage": usage, "result": dict(produced.result)}
        )
        try:
            size = len(canonical_json(record.result))
        except (TypeError, ValueError) as error:
            raise InternalError(
                f"The result of a {started.role} call is no JSON: {error}",
                remedy="Store bytes as artifacts and name them in the result.",
            ) from error
        stored = record
        try:
            if size > _MOST_BYTES:
                digest = await self.artifacts.aput_json(record.result)
                stored = record.model_copy(update={"result": None, "result_ref": digest})
            raw = stored.model_dump(mode="json", exclude_none=True)
            if stored.result is not None:
                raw["result"] = record.result  # with its own nulls
            if not await self._replace(claim, raw):
                return await self._finish_late(record, raw)
        except Exception:
            log.exception("call %s of %s was made and could not be recorded", record.key, record.scope)
        return record.model_copy(update={"result_ref": stored.result_ref})

    async def _replace(self, claim: Claim, raw: dict[str, Any]) -> bool:
        """Put a record in the place of the claim; `False` where somebody took that over."""
        try:
            return await self.artifacts.aswap_call(claim.record.scope, claim.record.key, claim.raw, raw)
        except ArtifactMissing:
            # Damaged since: this is better than nothing.
            await self.artifacts.awrite_call(claim.record.scope, claim.record.key, raw)
            return True

    async def _finish_late(self, record: CallRecord, raw: dict[str, Any]) -> CallRecord:
        """Record a result of a making that somebody took over meanwhile: of two results the first counts, for both.

        Whoever took it over counted this making as ambiguous; now it is known, and paid for.
        """
        for _ in range(_TRIES):
            found = await self.artifacts.aread_call(record.scope, record.key)
            if found is None:
                await self.artifacts.awrite_call(record.scope, record.key, raw)
                return record
            theirs = _as_record(found)
            known = max(0, theirs.ambiguous_before - 1)
            if theirs.status == "finished":
                used = [one.model_dump(mode="json") for one in (*theirs.failed, record.usage)]
                if await self.artifacts.aswap_call(
                    record.scope, record.key, found, {**found, "failed": used, "ambiguous_before": known}
                ):
                    log.warning("call %s of %s was made twice: its owner was taken for gone", record.key, record.scope)
                    return (await self.hydrate(theirs)).model_copy(update={"usage": record.usage})
                continue
            # What is still unknown of theirs takes the place of what was unknown of this one.
            before = known if theirs.status == "failed" else theirs.ambiguous_before
            used = [one.model_dump(mode="json") for one in theirs.failed]
            mine = {**raw, "failed": used, "ambiguous_before": before}
            if await self.artifacts.aswap_call(record.scope, record.key, found, mine):
                return record.model_copy(update={"failed": theirs.failed, "ambiguous_before": before})
        raise OSError(f"the record of call {record.key} is written by too many at once")

    async def end(
        self, claim: Claim, status: CallStatus, error: BaseException, *, answered: Usage | None = None
    ) -> CallRecord:
        """Record that a call gave no result. Nothing is overwritten that somebody else recorded since.

        Args:
            claim: The claim.
            status: How it ended.
            error: Why.
            answered: What it used, where it was answered: that counts, whatever comes of the call later.
        """
        used = getattr(error, "usage", None)
        record = claim.record.model_copy(
            update={
                "status": status,
                "t_end": time.time(),
                "lease_until": 0.0,
                "problem": problem_of(error),
                "usage": used if isinstance(used, Usage) else claim.record.usage,
                "failed": claim.record.failed if answered is None else (*claim.record.failed, answered),
            }
        )
        try:
            await self.artifacts.aswap_call(
                record.scope, record.key, claim.raw, record.model_dump(mode="json", exclude_none=True)
            )
        except Exception:
            log.exception("the end of call %s of %s could not be recorded", record.key, record.scope)
        return record

    async def all(self, scope: str, but: Collection[str] = ()) -> list[CallRecord]:
        """The readable records of a scope, in order of their start, with their results where these are left.

        Args:
            scope: The scope.
            but: Keys of records that are not wanted.

        Raises:
            ConfigError: The store cannot be read, or a record is of a newer release.
        """
        records: list[CallRecord] = []
        try:
            found = await self.artifacts.alist_calls(scope, but)
        except OSError as error:
            raise self._unreadable(error) from error
        for raw in found:
            try:
                record = _as_record(raw)
            except ArtifactMissing as error:
                log.warning("a call record of %s is left out: %s", scope, error)
                continue
            try:
                records.append(await self.hydrate(record))
            except ArtifactMissing as error:
                # What it used it has used all the same.
                log.warning("the result of a call of %s is gone: %s", scope, error)
                records.append(record)
        return records


def _as_record(raw: Mapping[str, Any]) -> CallRecord:
    return read_form("call record", CallRecord, raw, name=f"The record of call {str(raw.get('key'))[:12]}…")


def _lost(record: CallRecord, error: ArtifactMissing) -> ArtifactMissing:
    where = "" if record.step is None else f" (step index {record.step}, attempt {record.attempt})"
    return ArtifactMissing(
        f"What the {record.role} made{where} is lost: {error.message}",
        remedy="Restore it from a backup; or have it made again, which is paid for again, by sending the same request "
        "with the same run_id and redraw_missing=True (InterleaveContext).",
    )


def _used_in_vain(found: Found) -> tuple[Usage, ...]:
    if found.record is None:
        return ()
    # A making whose result was lost has used what it used.
    return found.record.failed if found.lost is None else (*found.record.failed, found.record.usage)


def _names(call: Call) -> dict[str, Any]:
    return {
        "scope": call.scope,
        "key": call.key,
        "role": call.role,
        "step": call.step,
        "attempt": call.attempt,
        "candidate": call.candidate,
        "billed": call.billed,
        "images": call.images,
        "price_usd": call.price_usd,
    }
