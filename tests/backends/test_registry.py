"""Parts by name: ours and a plugin's through the same door, and no broken plugin stops anything."""

from __future__ import annotations

import importlib
import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.backends.registry import describe, init_image_backend, survey_backends
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.registry import (
    KINDS,
    group,
    init,
    init_check,
    init_critic,
    init_planner,
    installed,
    split_name,
)
from langgraph_interleave.types import Capabilities, ImageRequest

GOOD = '''
from langgraph_interleave.types import Capabilities

class Backend:
    """Draws nothing, politely.

    More words.
    """

    name = "polite"
    fingerprint = "polite/1"

    def __init__(self, *, size: int = 64) -> None:
        self.size = size
        self.model = "plain"

    @classmethod
    def from_string(cls, model: str, *, size: int = 64) -> "Backend":
        made = cls(size=size)
        made.model = model
        return made

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(edit="instruct", max_references=3, billed=True)

    async def agenerate(self, request, *, on_progress=None):
        raise AssertionError("not drawn here")

class Needy:
    """Needs a model."""
    def __init__(self, model: str) -> None:
        self.model = model

class Deaf(Backend):
    @property
    def capabilities(self) -> Capabilities:
        raise RuntimeError("no answer")

class Lazy(Backend):
    def __init__(self) -> None:
        import a_module_nobody_has

class Bare:
    pass

class Surprised(Backend):
    def __init__(self) -> None:
        raise OSError("disk on fire")

just_a_value = 7
'''

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install a third-party distribution: its metadata and its modules, in a folder on the path."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)

    def make(
        distribution: str,
        points: dict[str, str],
        files: dict[str, str],
        requires: tuple[str, ...] = (),
        kind: str = "backends",
    ) -> None:
        info = tmp_path / f"{distribution.replace('-', '_')}-1.0.dist-info"
        info.mkdir()
        lines = [f"Requires-Dist: {line}" for line in requires]
        metadata = ["Metadata-Version: 2.1", f"Name: {distribution}", "Version: 1.0", *lines]
        (info / "METADATA").write_text("\n".join(metadata) + "\n", encoding="utf-8")
        entries = "\n".join(f"{name} = {value}" for name, value in points.items())
        (info / "entry_points.txt").write_text(f"[langgraph_interleave.{kind}]\n{entries}\n", encoding="utf-8")
        for name, text in files.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        importlib.invalidate_caches()

    yield make
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def test_names_and_arguments() -> None:
    assert split_name("sketch") == ("sketch", None)
    assert split_name(" simulator : hard ") == ("simulator", "hard")
    assert split_name("openai:gpt:1") == ("openai", "gpt:1")
    assert split_name("sketch:") == ("sketch", "")
    assert [group(kind) for kind in KINDS] == [f"langgraph_interleave.{kind}s" for kind in KINDS]


def test_a_plugin_is_found_made_and_given_its_options(install: Install) -> None:
    install("polite-plugin", {"polite": "polite_plugin:Backend"}, {"polite_plugin.py": GOOD})
    backend = init_image_backend("polite", size=32)
    assert isinstance(backend, ImageBackend)
    assert (backend.size, backend.model) == (32, "plain")  # pyright: ignore[reportAttributeAccessIssue]
    other = init_image_backend("polite:large")
    assert other.model == "large"  # pyright: ignore[reportAttributeAccessIssue]


def test_the_list_names_every_installed_one_and_what_it_can_do(install: Install) -> None:
    install("polite-plugin", {"polite": "polite_plugin:Backend"}, {"polite_plugin.py": GOOD})
    found = {info.entry.name: info for info in survey_backends()}
    polite = found["polite"]
    assert polite.entry.distribution == "polite-plugin"
    assert polite.summary == "Draws nothing, politely."
    assert polite.capabilities == Capabilities(edit="instruct", max_references=3, billed=True)
    assert polite.problem is None
    assert {"sketch", "simulator"} <= set(found)


def test_an_unknown_name_lists_what_is_installed() -> None:
    says = r"No backend 'skech' is installed\. Did you mean sketch\? Installed: .*simulator, sketch"
    with pytest.raises(ConfigError, match=says):
        init_image_backend("skech")
    with pytest.raises(
        ConfigError, match=r"No planner 'nobody' is installed. Installed: chat, .*scene\. .*provider:model"
    ):
        init_planner("nobody")


@pytest.mark.parametrize("make", [init_image_backend, init_planner, init_critic])
def test_a_name_that_comes_with_another_distribution_says_how_it_is_installed(
    monkeypatch: pytest.MonkeyPatch, make: Callable[[str], object]
) -> None:
    from langgraph_interleave import registry

    ours = tuple(entry for entry in registry.installed("backend") if entry.distribution == registry.OURS)
    monkeypatch.setattr(registry, "installed", lambda kind: ours)
    says = r"'miniature' is installed: it comes with langgraph-interleave-miniature\..* pip install \./miniature$"
    with pytest.raises(ConfigError, match=says):
        make("miniature")


def test_nothing_installed_at_all_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("langgraph_interleave.registry.entry_points", lambda group: ())
    with pytest.raises(ConfigError, match="install the package with pip"):
        init_image_backend("sketch")


def test_a_missing_module_of_an_extra_gives_the_pip_line(install: Install) -> None:
    install(
        "heavy-plugin",
        {"heavy": "heavy_plugin:Backend"},
        {"heavy_plugin.py": "import a_module_nobody_has\n"},
        requires=(
            "pillow",
            'a-module-nobody-has>=2; extra == "everything"',
            'other; extra == "everything"',
            "A.module-nobody_has >= 2 ; python_version > '3' and extra == 'local'",
        ),
    )
    with pytest.raises(ConfigError) as caught:
        init_image_backend("heavy")
    assert caught.value.message == "backend 'heavy' needs a_module_nobody_has, which is not installed."
    assert caught.value.remedy == 'Run: pip install "heavy-plugin[local]"'


def test_a_missing_module_found_when_the_backend_is_made(install: Install) -> None:
    install(
        "lazy-plugin",
        {"lazy": "lazy_plugin:Lazy"},
        {"lazy_plugin.py": GOOD},
        requires=('a_module_nobody_has; extra == "all"',),
    )
    with pytest.raises(ConfigError, match=r'pip install "lazy-plugin\[all\]"'):
        init_image_backend("lazy")
    (info,) = [info for info in survey_backends() if info.entry.name == "lazy"]
    assert info.problem is not None
    assert info.problem.remedy == 'Run: pip install "lazy-plugin[all]"'


def test_a_namespace_package_is_known_by_its_distribution(install: Install) -> None:
    install(
        "cloud-plugin",
        {"cloud": "cloud_plugin:Backend"},
        {"cloud_plugin.py": "import nimbus9.genai\n"},
        requires=('nimbus9-genai; extra == "cloud"',),
    )
    with pytest.raises(ConfigError, match=r'pip install "cloud-plugin\[cloud\]"'):
        init_image_backend("cloud")


def test_a_missing_module_that_no_extra_brings_is_a_broken_plugin(install: Install) -> None:
    """A masked `ModuleNotFoundError` would send the user after an extra that does not help."""
    install(
        "torn-plugin",
        {"torn": "torn_plugin:Backend"},
        {"torn_plugin.py": "import something_of_its_own\n"},
        requires=('torch; extra == "gpu"',),
    )
    with pytest.raises(
        ConfigError, match="cannot be used: ModuleNotFoundError: No module named 'something_of_its_own'"
    ):
        init_image_backend("torn")


@pytest.mark.parametrize(
    ("body", "attribute", "says"),
    [
        ("raise RuntimeError('boom')", "Backend", "cannot be used: RuntimeError: boom"),
        ("def broken(:", "Backend", "cannot be used: SyntaxError"),
        ("", "Backend", "cannot be used: AttributeError"),
        (GOOD, "just_a_value", "is not callable"),
        (GOOD, "Bare", "is no ImageBackend: it lacks agenerate, capabilities, fingerprint, name"),
        (GOOD, "Surprised", "cannot be used: OSError: disk on fire"),
        (GOOD, "Deaf", "It does not say what it can do: RuntimeError: no answer"),
    ],
)
def test_a_broken_plugin_is_reported_and_stops_nothing(install: Install, body: str, attribute: str, says: str) -> None:
    install("odd-plugin", {"odd": f"odd_plugin:{attribute}"}, {"odd_plugin.py": body})
    install("polite-plugin", {"polite": "polite_plugin:Backend"}, {"polite_plugin.py": GOOD})
    found = {info.entry.name: info for info in survey_backends()}
    problem = found["odd"].problem
    assert problem is not None
    assert says in problem.message
    assert problem.remedy
    assert found["polite"].problem is None


def test_one_that_takes_an_argument_is_listed_without_capabilities() -> None:
    (info,) = [info for info in survey_backends() if info.entry.name == "svg"]
    assert info.summary and (info.capabilities, info.problem) == (None, None)
    with pytest.raises(ConfigError, match=r"argument: 'model'\. Write svg:PROVIDER:MODEL, as in svg:openai:"):
        init_image_backend("svg")


def test_one_that_cannot_be_made_by_name_says_how_it_is(install: Install) -> None:
    install("needy-plugin", {"needy": "needy_plugin:Needy"}, {"needy_plugin.py": GOOD})
    (info,) = [info for info in survey_backends() if info.entry.name == "needy"]
    assert (info.summary, info.capabilities) == ("Needs a model.", None)
    assert info.problem is not None
    assert str(info.problem) == (
        "backend 'needy': missing a required argument: 'model'. Its name alone does not do; "
        "in Python: init_image_backend('needy', model=…). Options it takes: model."
    )
    with pytest.raises(ConfigError) as caught:
        init_image_backend("needy:large")
    assert str(caught.value) == (
        "backend 'needy' has no from_string, so nothing can be given to it after a colon ('large' was). "
        "Write 'needy'; in Python: init_image_backend('needy', model=…)."
    )


DRAWING = '''
from langgraph_interleave.testing import noise_card

def draw(prompt, refs):
    """Draws cards."""
    return noise_card(prompt).data

def make(seed, *, name="made"):
    from langgraph_interleave.backends.callable import CallableBackend
    return CallableBackend(draw, name=f"{name}{seed}")
'''


async def test_an_entry_point_may_be_a_function_that_draws(install: Install) -> None:
    install("cards", {"cards": "cards:draw", "made": "cards:make"}, {"cards.py": DRAWING})
    backend = init_image_backend("cards")
    assert (backend.name, backend.capabilities.edit) == ("cards", "instruct")
    assert (await backend.agenerate(ImageRequest("a card"))).images[0].mime == "image/png"
    (info,) = [info for info in survey_backends() if info.entry.name == "cards"]
    assert (info.summary, info.capabilities, info.problem) == ("Draws cards.", backend.capabilities, None)
    # A function that is given what it needs makes a backend.
    assert init_image_backend("made", seed=3).name == "made3"


def test_a_name_of_ours_cannot_be_taken(install: Install) -> None:
    install("taker", {"sketch": "taker:Backend"}, {"taker.py": "raise RuntimeError('never imported')"})
    mine, theirs = [entry for entry in installed("backend") if entry.name == "sketch"]
    assert (mine.distribution, mine.shadowed) == ("langgraph-interleave", False)
    assert (theirs.distribution, theirs.shadowed) == ("taker", True)
    (info,) = [info for info in survey_backends() if info.entry.shadowed]
    assert info.problem is not None
    assert "goes first" in info.problem.message


def test_an_argument_or_option_that_is_not_taken(install: Install) -> None:
    install(
        "polite-plugin",
        {"polite": "polite_plugin:Backend", "bare": "polite_plugin:Bare"},
        {"polite_plugin.py": GOOD},
    )
    with pytest.raises(ConfigError, match=r"backend 'bare' has no from_string.*\('x' was\)\. Write 'bare'\."):
        init_image_backend("bare:x")
    with pytest.raises(ConfigError, match="nothing after the colon"):
        init_image_backend("polite:")
    with pytest.raises(ConfigError, match=r"unexpected keyword argument 'colour'\. Options it takes: size\."):
        init_image_backend("polite", colour="red")
    with pytest.raises(ConfigError, match=r"Options it takes: size\."):
        init_image_backend("polite:large", colour="red")


def test_a_part_of_another_role_is_refused(install: Install) -> None:
    install("confused", {"odd": "confused:Backend"}, {"confused.py": GOOD}, kind="critics")
    with pytest.raises(ConfigError, match="is no Critic: it lacks acritique, billed"):
        init_critic("odd")


@pytest.mark.parametrize("make", [init_planner, init_critic])
def test_a_provider_alone_is_told_how_its_models_are_named(make: Callable[[str], object]) -> None:
    with pytest.raises(ConfigError, match=r"'transformers' names no model\. Write transformers:<folder>, or"):
        make("transformers")
    with pytest.raises(ConfigError, match=r"'openai' names no model\. Write openai:<model>\."):
        make("openai")
    with pytest.raises(ConfigError, match=r"as in openai:gpt-5, or transformers:FOLDER"):
        make("nobody")


def test_errors_of_ours_pass_through(install: Install) -> None:
    body = """
from langgraph_interleave.errors import ConfigError

def make():
    raise ConfigError("no key", remedy="Set it.")
"""
    install("keyless", {"keyless": "keyless:make"}, {"keyless.py": body})
    with pytest.raises(ConfigError) as caught:
        init("backend", "keyless", ImageBackend)
    assert str(caught.value) == "no key Set it."


def test_capabilities_in_words() -> None:
    assert describe(Capabilities()) == (
        "draws from text", "does not edit", "seed ignored", "up to 16.8 megapixels", "free of charge",
    )  # fmt: skip
    everything = Capabilities(
        edit="img2img", max_references=1, max_images=4, seed="exact", progress="previews", concurrency=2, billed=True
    )
    assert describe(everything) == (
        "draws from text", "restyles a picture, up to 1 reference", "4 pictures a call", "same seed, same picture",
        "shows previews", "2 at once", "up to 16.8 megapixels", "billed",
    )  # fmt: skip
    assert "looks at up to 2 references" in describe(Capabilities(generate=False, max_references=2))


@pytest.mark.parametrize("name", ["sketch", "simulator", "simulator:hard"])
async def test_the_built_in_backends_draw(name: str) -> None:
    backend = init_image_backend(name)
    result = await backend.agenerate(ImageRequest(prompt="a red ball on a table", width=64, height=64, seed=1))
    assert result.images[0].width == 64


def test_the_other_built_in_parts() -> None:
    assert init_planner("scene").billed is False
    assert init_critic("pixel").billed is False
    assert init_check("not_blank").name == "not_blank"


def test_the_list_gives_each_broken_part_a_line_and_says_how_chat_models_are_named(install: Install) -> None:
    from langgraph_interleave.cli.backends import backends

    install(
        "torn", {"torn": "torn:Check", "not_blank": "torn:Check"}, {"torn.py": "raise OSError('rot')"}, kind="checks"
    )
    told = io.StringIO()
    backends(told)
    lines = [line.strip() for line in told.getvalue().splitlines()]
    (checks,) = [line for line in lines if line.startswith("checks ")]
    assert "not_blank" in checks and "torn" not in checks
    after = lines[lines.index(checks) + 1 :]
    broken = "torn (torn): check 'torn' of torn cannot be used: OSError: rot."
    remedy = "Reinstall or remove torn, or use another check."
    assert after == ["not_blank (torn): another of that name goes first", f"{broken} {remedy}"]
    planners = next(index for index, line in enumerate(lines) if line.startswith("planners "))
    assert "transformers:FOLDER" in lines[planners + 1]
