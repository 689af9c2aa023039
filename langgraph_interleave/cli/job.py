"""A run made ready: its roles, its folder, its graph, its input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langgraph_interleave import _sync
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.cli.begun import Begun, BegunRuns, GivenPicture
from langgraph_interleave.cli.drawing import choose_backend
from langgraph_interleave.cli.folder import STORE, Place, choose_folder, run_id
from langgraph_interleave.cli.index import Index
from langgraph_interleave.cli.money import hint_of
from langgraph_interleave.cli.preflight import check_roles
from langgraph_interleave.cli.typed import Options
from langgraph_interleave.content import image_block, read_request
from langgraph_interleave.context import InterleaveContext
from langgraph_interleave.critic import Critic
from langgraph_interleave.errors import InterleaveError, Role
from langgraph_interleave.imaging import fetch_image, is_web_address, load_image
from langgraph_interleave.ledger import Ledger
from langgraph_interleave.planner import Planner
from langgraph_interleave.prices import Price, Prices
from langgraph_interleave.profiles import profile_of
from langgraph_interleave.registry import init_critic, init_planner
from langgraph_interleave.types import ImageBytes, RunOutcome

Picture = tuple[ImageBytes, str]


@dataclass(slots=True)
class Job:
    """A run made ready: its id, its folder, its graph and its input."""

    run: str
    place: Place
    artifacts: ArtifactStore
    graph: Any
    blocks: list[dict[str, Any]]
    context: InterleaveContext
    free: bool
    #: What it is gone on with later.
    begun: Begun
    #: Digest of the document that is changed; `None` for a new one.
    base: str | None = None
    #: Of servers that may cost nothing.
    hint: str = ""
    #: Whether there is a critic.
    judges: bool = True
    #: What a call of each role is expected to cost, in US dollars; `None` where nobody knows.
    call_usd: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    document: dict[str, Any] | None = None
    started: bool = False
    #: As it was kept before this process made it; known once it is started.
    before: Begun | None = None
    #: What ended the run before its time; raised once the document is written.
    fault: Exception | None = None
    #: Asked to stop by the user.
    stopped: bool = False

    def start(self) -> int | None:
        """The run is made from now on, and can be gone on with.

        Returns:
            The process that makes it as well, if there is one.
        """
        folder = self.place.folder
        self.before = BegunRuns(folder).start(self.begun)
        self.started = True
        begun = self.before.begun if self.before is not None else self.begun.begun
        Index().put(self.run, folder, asked=self.begun.asked, begun=begun)
        return self.before.maker if self.before is not None else None

    def refused(self) -> None:
        """Nothing was made: what was there is as it was."""
        runs = BegunRuns(self.place.folder)
        kept = runs.read(self.run) if self.started else None
        # One that another process makes, or has ended meanwhile, is that one's.
        if kept is not None and kept.owner and kept.maker is None:
            if self.before is None:
                runs.remove(self.run)
                Index().remove(self.run, self.place.folder)
            else:
                runs.write(self.before)
        self.place.clear()

    def ended(self, outcome: RunOutcome) -> None:
        """The run has ended, and what came of it is written."""
        BegunRuns(self.place.folder).end(self.run, outcome, self.document)

    @property
    def given(self) -> dict[str, Any]:
        """The graph's input."""
        return {"request": self.blocks} if self.base is None else {"request": self.blocks, "base": self.base}

    @property
    def config(self) -> dict[str, Any]:
        """Where the graph remembers the run while somebody is asked."""
        return {"configurable": {"thread_id": self.run}}


@dataclass(frozen=True, slots=True)
class Parts:
    """What plans, draws and judges, as it was typed; `None` where that is left to the graph."""

    planner: Planner | None
    backend: ImageBackend
    critic: Critic | None

    @classmethod
    def of(cls, options: Options) -> Parts:
        """Make them.

        Raises:
            ConfigError: One is not known.
        """
        backend = choose_backend(options.backend)
        planner = init_planner(options.planner) if options.planner else None
        return cls(planner, backend, init_critic(options.critic) if options.critic else None)

    @property
    def free(self) -> bool:
        """Whether nothing here is billed."""
        return not (
            self.backend.capabilities.billed
            or any(part.billed for part in (self.planner, self.critic) if part is not None)
        )

    @property
    def call_usd(self) -> dict[str, float | None]:
        """What a call of each role is expected to cost, in US dollars; `None` where nobody knows."""
        table = Prices.default()
        brought = getattr(self.backend, "companions", None) is not None
        roles: dict[Role, object] = {"planner": self.planner, "backend": self.backend, "critic": self.critic}
        return {
            # What comes with a backend is code.
            role: 0.0 if part is None and brought else profile_of(role, part).cost(table)[0]
            for role, part in roles.items()
        }


def prepare(options: Options, working: Path, *, prices: Mapping[str, Price] | None = None) -> Job:
    """Load the pictures, choose the folder, make the graph; `prices` are kept with the run."""
    parts = Parts.of(options)
    pictures = load_pictures(options, working)
    run = run_id(options.identity(picture for picture, _ in pictures))
    place = choose_folder(options.out, request=options.request, run=run, working=working)
    return make_job(options, parts, pictures, run=run, place=place, prices=prices)


def load_pictures(options: Options, working: Path) -> list[Picture]:
    """The pictures of `--image`, each with its file's name; an address that is typed here is fetched.

    Raises:
        InterleaveError: A file is not there, or no picture.
    """
    return [_picture(given, working) for given in options.images]


def _picture(given: str, working: Path) -> Picture:
    if is_web_address(given):
        return _sync.run_sync(lambda: fetch_image(given))
    return load_image(working / given), Path(given).name


def make_job(
    options: Options,
    parts: Parts,
    pictures: Sequence[Picture],
    *,
    run: str,
    place: Place,
    base: str | None = None,
    prices: Mapping[str, Price] | None = None,
) -> Job:
    """Make the graph over a folder's store, and its input.

    Args:
        options: What the user typed.
        parts: What was made of the roles.
        pictures: The pictures of the request.
        run: Id of the run.
        place: The folder.
        base: Digest of the document that is changed.
        prices: The user's own, to be kept with the run.

    Raises:
        InterleaveError: Something of it cannot be; then nothing is left in the folder.
    """
    from langgraph.checkpoint.memory import InMemorySaver

    from langgraph_interleave.graph import create_interleave_graph

    artifacts = ArtifactStore.folder(place.folder / STORE)
    try:
        graph = create_interleave_graph(
            parts.planner,
            parts.backend,
            parts.critic,
            limits=options.limits,
            ledger=Ledger(artifacts, grace_s=0),
            on_exhausted=options.on_exhausted,
            on_limit=options.on_limit,
            approve=options.approve,
            draft=options.draft,
            lookahead=options.lookahead,
            candidates=options.candidates,
            # What outlives this process are the ledger and the answers: whoever types the same again comes to
            # the same question, and pays for nothing on the way.
            checkpointer=InMemorySaver() if options.asks else None,
        )
        blocks: list[dict[str, Any]] = [{"type": "text", "text": options.request}]
        given = tuple(GivenPicture(ref=artifacts.put_image(picture), name=name) for picture, name in pictures)
        blocks += [image_block(picture.ref, name=picture.name) for picture in given]
        # What is refused is refused before anything is shown.
        read_request(blocks, artifacts)
        if not artifacts.list_calls(run):
            check_roles([part for part in (parts.planner, parts.backend, parts.critic) if part is not None])
        context = InterleaveContext(
            steps=options.steps,
            size=options.size,
            seed=options.seed,
            language=options.language,
            style=options.style,
            references=options.references,
            anchor_inputs=options.anchor_inputs,
            reanchor_every=options.reanchor_every,
            style_in_prompts=options.style_in_prompts,
            run_id=run,
        )
    except (InterleaveError, KeyboardInterrupt):
        place.clear()
        raise
    typed = (options.planner, parts.planner), (options.backend, parts.backend), (options.critic, parts.critic)
    begun = Begun(
        run=run,
        options=options.begun(),
        withheld=options.withheld,
        pictures=given,
        base=base,
        prices=None if prices is None else dict(prices),
    )
    hint = hint_of(*typed)
    return Job(
        run,
        place,
        artifacts,
        graph,
        blocks,
        context,
        free=parts.free,
        begun=begun,
        base=base,
        hint=hint,
        judges=getattr(parts.critic, "judges", True),
        call_usd=parts.call_usd,
    )
