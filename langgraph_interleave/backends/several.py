"""Several backends as one: the plan names which draws a step, and another stands in where that one cannot."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.backends.given import Given, as_backend
from langgraph_interleave.backends.registry import describe
from langgraph_interleave.errors import ConfigError, InvalidRequest, Unavailable
from langgraph_interleave.types import Capabilities, ImageRequest, ImageResult, OnProgress


class SeveralBackends:
    """Draws each step with the backend that the plan names for it; the first one when it names none.

    A step that the named backend cannot draw (it takes no references, or cannot draw from words alone)
    goes to the first that can, and so does one whose backend is out of reach before anything was sent,
    and one that needs a mask or a transparent ground, where another backend has that; the step then has
    a warning that says so. References a backend has no room for are left out from the end, with a warning.

    Args:
        backends: Backends, or what makes them (a name, a function that draws, a pipeline), by the name the
            planner calls them; each perhaps with what it is for, as a pair:
            `{"photo": ("openai", "photographs"), "diagram": "svg:openai:gpt-6-sol"}`.

    Raises:
        ConfigError: There is none, or a name is not known.

    Example:
        >>> both = SeveralBackends({"sketch": ("sketch", "drawings by hand"), "test": "simulator"})
        >>> [name for name, _ in both.capabilities.choices]
        ['sketch', 'test']
    """

    name = "several"

    def __init__(self, backends: Mapping[str, Given | tuple[Given, str]]) -> None:
        if not backends:
            raise ConfigError("There is no backend to choose from.", remedy='Give {"name": backend, …}.')
        self.members: dict[str, ImageBackend] = {}
        self._purposes: dict[str, str] = {}
        for name, given in backends.items():
            backend, purpose = given if isinstance(given, tuple) else (given, "")
            self.members[name] = as_backend(backend)
            self._purposes[name] = purpose
        self.fingerprint = "several/" + "+".join(f"{name}={one.fingerprint}" for name, one in self.members.items())

    @property
    def capabilities(self) -> Capabilities:
        """What at least one of them can do; what all of them promise of seeds and sizes."""
        each = [backend.capabilities for backend in self.members.values()]
        edits = [one.edit for one in each]
        return Capabilities(
            generate=any(one.generate for one in each),
            edit="instruct" if "instruct" in edits else "img2img" if "img2img" in edits else "none",
            max_references=max(one.max_references for one in each),
            max_images=min(one.max_images for one in each),
            min_side=max(one.min_side for one in each),
            max_pixels=min(one.max_pixels for one in each),
            seed="exact" if all(one.seed == "exact" for one in each) else "ignored",
            negative_prompt=any(one.negative_prompt for one in each),
            mask=any(one.mask for one in each),
            transparent=any(one.transparent for one in each),
            progress="steps" if any(one.progress != "none" for one in each) else "none",
            concurrency=sum(one.concurrency for one in each),
            billed=any(one.billed for one in each),
            choices=tuple((name, self._said(name)) for name in self.members),
        )

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        """Draw with the backend that is named, or one that can stand in for it.

        Raises:
            InvalidRequest: The name is unknown, or none of them can draw this.
            CallError: The backend failed.
        """
        wanted = request.backend or next(iter(self.members))
        if wanted not in self.members:
            raise InvalidRequest(
                f"There is no backend {wanted!r} among several.", remedy=f"There are {', '.join(self.members)}."
            )
        warnings: list[str] = []
        lost: Unavailable | None = None
        why = {name: self._unable(name, request) for name in self.members}
        lacks = {name: self._lacks(name, request) for name in self.members}
        names = (wanted, *(name for name in self.members if name != wanted))
        for name in sorted(names, key=lambda name: bool(lacks[name])):
            if why[name]:
                continue
            if lost is not None:
                warnings.append(f"{wanted} is out of reach; {name} draws this.")
            elif name != wanted:
                warnings.append(f"{wanted} {why[wanted] or lacks[wanted]}; {name} draws this.")
            backend = self.members[name]
            room = backend.capabilities.max_references
            fitting = replace(request, references=tuple(request.references[:room]), backend=None)
            if len(fitting.references) < len(request.references):
                warnings.append(f"{name} takes {room} of the {len(request.references)} references.")
            try:
                result = await backend.agenerate(fitting, on_progress=on_progress)
            except Unavailable as error:
                if error.ambiguous:
                    raise
                lost = lost or error
                why[name] = f"is out of reach ({error.message.rstrip('.')})"
                continue
            return replace(result, warnings=(*warnings, *result.warnings), model=result.model or backend.fingerprint)
        reasons = f"{'; '.join(f'{name} {reason}' for name, reason in why.items())}."
        if lost is not None:
            raise Unavailable(
                f"No backend can draw this: {reasons}", remedy=lost.remedy, code=lost.code,
                retry_after=lost.retry_after, ambiguous=False, detail=lost.detail, usage=lost.usage,
            ) from lost  # fmt: skip
        raise InvalidRequest(
            f"No backend can draw this: {reasons}",
            remedy="Plan the step without pictures to build on, or add a backend that edits."
            if request.references
            else "Plan the step as an edit of a picture, or add a backend that draws from words alone.",
        )

    async def aready(self) -> None:
        """Ask every backend that can tell whether it can be used.

        Raises:
            ConfigError: A key is refused, or a model is not there.
        """
        await asyncio.gather(
            *(one.aready() for one in self.members.values() if callable(getattr(one, "aready", None)))  # type: ignore[attr-defined]
        )

    async def aclose(self) -> None:
        """Let every backend that holds connections of the running event loop end them."""
        await asyncio.gather(
            *(one.aclose() for one in self.members.values() if callable(getattr(one, "aclose", None)))  # type: ignore[attr-defined]
        )

    def _unable(self, name: str, request: ImageRequest) -> str:
        """Why a backend cannot draw this; empty where it can."""
        can = self.members[name].capabilities
        if not request.references:
            return "" if can.generate else "cannot draw from words alone"
        return "" if can.edit != "none" and can.max_references > 0 else "takes no pictures"

    def _lacks(self, name: str, request: ImageRequest) -> str:
        """What a backend would leave out that changes the picture; empty where that is nothing."""
        can = self.members[name].capabilities
        if request.mask is not None and not can.mask:
            return "takes no mask"
        return "draws no transparent ground" if request.transparent and not can.transparent else ""

    def _said(self, name: str) -> str:
        can = ", ".join(describe(self.members[name].capabilities)[:2])
        return f"{self._purposes[name]}; {can}" if self._purposes[name] else can
