"""The ledger: one record per paid call, and one call however many ask for it."""

from langgraph_interleave.ledger.ask import OnDone
from langgraph_interleave.ledger.core import Ledger
from langgraph_interleave.ledger.records import Call, CallRecord, CallStatus, Finished, Produce, Produced, call_key
from langgraph_interleave.ledger.resend import Repeats, pause_before_resend
from langgraph_interleave.ledger.scope import OnResend, RunScope

__all__ = [
    "Call",
    "CallRecord",
    "CallStatus",
    "Finished",
    "Ledger",
    "OnDone",
    "OnResend",
    "Produce",
    "Produced",
    "Repeats",
    "RunScope",
    "call_key",
    "pause_before_resend",
]
