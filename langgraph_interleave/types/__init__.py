"""The vocabulary as types: request, plan, critique, image, outcome, record."""

from langgraph_interleave.types.artifact import SCHEME, ArtifactRef, ImageBytes, Linking
from langgraph_interleave.types.base import Frozen
from langgraph_interleave.types.change import Change, ChangeKind, Changes
from langgraph_interleave.types.critique import (
    CheckResult,
    Critique,
    CritiqueRequest,
    CritiqueResult,
    Earlier,
    Judge,
    Score,
    Scores,
    Verdict,
)
from langgraph_interleave.types.document import DocumentData, DocumentStep, Drift
from langgraph_interleave.types.image import Capabilities, ImageRequest, ImageResult, OnProgress, Progress
from langgraph_interleave.types.outcome import (
    WITH_PICTURE,
    Lookahead,
    OnExhausted,
    Publish,
    RunOutcome,
    RunReason,
    StepOutcome,
)
from langgraph_interleave.types.plan import (
    Op,
    Plan,
    PlanDelta,
    PlanFinished,
    PlanWarning,
    ReasoningDelta,
    Step,
    StepDelta,
    StyleDelta,
    StyleGuide,
    parse_source,
)
from langgraph_interleave.types.record import Attempt, Candidate, PlanRecord, Problem, StepRecord
from langgraph_interleave.types.request import ImagePart, Part, Request, TextPart
from langgraph_interleave.types.review import Approve, PlanReview, StepReview
from langgraph_interleave.types.unusable import Unusable
from langgraph_interleave.types.usage import Spend, Usage

__all__ = [
    "SCHEME",
    "WITH_PICTURE",
    "Approve",
    "ArtifactRef",
    "Attempt",
    "Candidate",
    "Capabilities",
    "Change",
    "ChangeKind",
    "Changes",
    "CheckResult",
    "Critique",
    "CritiqueRequest",
    "CritiqueResult",
    "DocumentData",
    "DocumentStep",
    "Drift",
    "Earlier",
    "Frozen",
    "ImageBytes",
    "ImagePart",
    "ImageRequest",
    "ImageResult",
    "Judge",
    "Linking",
    "Lookahead",
    "OnExhausted",
    "OnProgress",
    "Op",
    "Part",
    "Plan",
    "PlanDelta",
    "PlanFinished",
    "PlanRecord",
    "PlanReview",
    "PlanWarning",
    "Problem",
    "Progress",
    "Publish",
    "ReasoningDelta",
    "Request",
    "RunOutcome",
    "RunReason",
    "Score",
    "Scores",
    "Spend",
    "Step",
    "StepDelta",
    "StepOutcome",
    "StepRecord",
    "StepReview",
    "StyleDelta",
    "StyleGuide",
    "TextPart",
    "Unusable",
    "Usage",
    "Verdict",
    "parse_source",
]
