"""Training of the miniature: every stage runs, can be stopped at any step, and asks what the pipeline will ask."""

from __future__ import annotations

import copy
import random
from pathlib import Path

import pytest

pytest.importorskip("diffusers")
pytest.importorskip("training.loop", reason="the training code is in the repository: pip install -e ./miniature")

import torch
from training.attention import quicken
from training.autoencoder import AutoencoderSettings, train_autoencoder
from training.flow import PADDED, STAND_INS, Padding, image_ids, text_states, velocity
from training.loop import Average, Budget, Chance, Loop
from training.models import build_text_encoder, build_transformer, deepened, patchified, unpatchified
from training.optimizer import Both, orthogonalised
from training.tokenizer import build_tokenizer, token_ids
from training.transformer import Pair, TransformerSettings, meaning_directions, train_transformer

TINY = AutoencoderSettings(scenes=8, batch=2)
SMALL = TransformerSettings(batch=2, bases=4, own=4, check_s=1e9)


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def _line(folder: Path, steps: int) -> tuple[torch.Tensor, list[dict[str, float]]]:
    """A line fitted by the loop: the smallest thing that has all a stage has."""
    torch.manual_seed(0)
    chance, model = Chance(3), torch.nn.Linear(4, 4)
    average = Average(model, copy.deepcopy(model), 0.9)
    optimizer = Both(list(model.parameters())[:1], list(model.parameters())[1:])
    parts = {"model": model, "average": average, "optimizer": optimizer, "chance": chance}
    loop = Loop(folder, "line", Budget(steps=steps), parts, show_every=2)
    for step in loop:
        given = chance.uniform(5, 4) + chance.python.random()
        (model(given) - given).pow(2).mean().backward()
        optimizer.step(0.01 * (1 - loop.fraction))
        average.update(step)
        loop.note(size=given.mean())
    return average.module.state_dict()["weight"], loop.history


def test_a_run_that_was_stopped_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    weights, history = _line(tmp_path / "whole", 7)
    patch = _stopped_after(3)
    with pytest.raises(_Stopped):
        _line(tmp_path / "halves", 7)
    patch.undo()
    again, other = _line(tmp_path / "halves", 7)
    assert torch.equal(weights, again)
    assert [(row["step"], row["size"]) for row in history] == [(row["step"], row["size"]) for row in other]
    assert len(history) == 3


@pytest.mark.slow
def test_an_autoencoder_that_was_stopped_ends_with_the_same_weights(tmp_path: Path) -> None:
    train_autoencoder(tmp_path / "whole", Budget(steps=2), settings=TINY)
    patch = _stopped_after(1)
    with pytest.raises(_Stopped):
        train_autoencoder(tmp_path / "halves", Budget(steps=2), settings=TINY)
    patch.undo()
    train_autoencoder(tmp_path / "halves", Budget(steps=2), settings=TINY)
    whole, halves = (_weights(tmp_path / name / "autoencoder.ckpt") for name in ("whole", "halves"))
    assert whole.keys() == halves.keys()
    assert all(torch.equal(whole[name], halves[name]) for name in whole)


class _Stopped(Exception):
    pass


def _stopped_after(steps: int) -> pytest.MonkeyPatch:
    """As if the process were killed right after the checkpoint of that step."""
    patch, original = pytest.MonkeyPatch(), Loop.__iter__

    def stopping(loop: Loop):
        for step in original(loop):
            if step == steps:
                loop.save()
                raise _Stopped
            yield step

    patch.setattr(Loop, "__iter__", stopping)
    return patch


def _weights(file: Path) -> dict:
    return torch.load(file, weights_only=False)["parts"]["average"]


@pytest.mark.slow
def test_the_transformer_trains_on_what_the_autoencoder_left(tmp_path: Path) -> None:
    train_autoencoder(tmp_path, Budget(steps=2), settings=TINY)
    file = train_transformer(tmp_path, Budget(steps=6), settings=SMALL)
    before = torch.load(file)
    assert (tmp_path / "own.pt").exists()
    again = train_transformer(tmp_path, Budget(steps=6), settings=SMALL)  # nothing left to do
    assert all(torch.equal(before[name], value) for name, value in torch.load(again).items())


def test_a_budget_ends_at_whichever_comes_first() -> None:
    assert Budget(seconds=10).fraction(5, 2.5) == 0.25
    assert Budget(steps=4).fraction(1, 1e9) == 0.25
    assert Budget(steps=4).fraction(9, 0) == 1.0


def test_patches_are_those_of_the_pipeline() -> None:
    from diffusers.pipelines.flux2.pipeline_flux2_klein import Flux2KleinPipeline

    latents = torch.randn(2, 12, 8, 8)
    assert torch.equal(patchified(latents), Flux2KleinPipeline._patchify_latents(latents))
    assert torch.equal(unpatchified(patchified(latents)), latents)


def test_position_ids_are_those_of_the_pipeline() -> None:
    from diffusers.pipelines.flux2.pipeline_flux2_klein import Flux2KleinPipeline

    patches = torch.zeros(1, 48, 4, 4)
    wanted = torch.cat(
        [Flux2KleinPipeline._prepare_latent_ids(patches)[0], Flux2KleinPipeline._prepare_image_ids([patches])[0]]
    )
    assert torch.equal(image_ids(1), wanted)


def test_the_fast_attention_is_the_librarys() -> None:
    torch.manual_seed(0)
    model = build_transformer()
    torch.nn.init.normal_(model.proj_out.weight)
    padding = Padding.drawn(random.Random(1), 6)
    noisy, text = torch.randn(2, 16, 48), torch.randn(2, 6 + STAND_INS, 192)
    with torch.no_grad():
        before = velocity(model, noisy, torch.tensor([0.3, 0.9]), text, padding, noisy)
        quicken(model)
        after = velocity(model, noisy, torch.tensor([0.3, 0.9]), text, padding, noisy)
    torch.testing.assert_close(before, after, rtol=1e-4, atol=1e-5)


def test_stand_ins_carry_the_weight_of_all_padding() -> None:
    rng = random.Random(2)
    for _ in range(50):
        padding = Padding.drawn(rng, 20)
        assert padding.positions[:20].tolist() == list(range(20))
        more = padding.bias[20:].exp().sum().item()
        if more > 0:
            assert 20 <= padding.positions[20] <= padding.positions[-1] < PADDED
            assert round(more) in range(2 * STAND_INS, PADDED - 19)


def test_padding_alike_is_padding_in_full() -> None:
    """Where every padding token is the same to the model, few with the weight of many give the same picture."""
    torch.manual_seed(1)
    model = build_transformer()
    torch.nn.init.normal_(model.proj_out.weight)
    noisy, text = torch.randn(1, 16, 48), torch.randn(1, 5, 192)
    pad = text[:, :1]
    few = Padding(torch.tensor([0, 1, 2, 3, 4, 4, 4]), torch.tensor([0.0] * 5 + [torch.log(torch.tensor(10.0))] * 2))
    many = Padding(torch.tensor([0, 1, 2, 3, 4, *[4] * 20]), torch.zeros(25))
    with torch.no_grad():
        answers = [
            velocity(model, noisy, torch.tensor([0.5]), torch.cat([text, pad.expand(1, count, -1)], 1), padding)
            for count, padding in ((2, few), (20, many))
        ]
    torch.testing.assert_close(answers[0], answers[1], rtol=1e-3, atol=1e-4)


def test_the_deep_text_encoder_is_the_trained_one_where_the_pipeline_looks() -> None:
    torch.manual_seed(2)
    shallow = build_text_encoder(300).eval()
    ids = torch.randint(0, 300, (2, 7))
    mask = torch.ones_like(ids)
    with torch.no_grad():
        wanted = text_states(shallow, ids, mask, torch.arange(7))
        found = deepened(shallow)(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states
    torch.testing.assert_close(torch.cat([found[tap] for tap in (9, 18, 27)], -1), wanted)


def test_prompts_become_the_ids_that_the_pipeline_makes() -> None:
    tokenizer = build_tokenizer()
    ids, _ = token_ids(tokenizer, ["A red Ball at the top left "], 24)
    text = tokenizer.apply_chat_template(
        [{"role": "user", "content": "A red Ball at the top left "}],
        tokenize=False,
        add_generation_prompt=True,
        enable_thinking=False,
    )
    wanted = tokenizer(text, padding="max_length", truncation=True, max_length=24)["input_ids"]
    assert ids[0].tolist() == wanted


def test_meaning_directions_are_those_the_probe_reads() -> None:
    torch.manual_seed(3)
    probe, tokens = torch.randn(5, 768), torch.randn(3, 16, 48)
    directions = meaning_directions(probe)
    assert torch.allclose(directions.T @ directions, torch.eye(directions.shape[1]), atol=1e-4)
    read = tokens.transpose(1, 2).flatten(1) @ (probe - probe.mean(0)).T
    again = (tokens.flatten(1) @ directions @ directions.T).view(3, 16, 48).transpose(1, 2).flatten(1)
    assert torch.allclose(again @ (probe - probe.mean(0)).T, read, atol=1e-2)


def test_muon_brings_singular_values_near_one() -> None:
    sizes = torch.linalg.svdvals(orthogonalised(torch.randn(2, 20, 8, generator=torch.Generator().manual_seed(4)), 5))
    assert sizes.min() > 0.5
    assert sizes.max() < 1.3


def test_chance_goes_on_where_it_was() -> None:
    chance = Chance(9)
    chance.uniform(3)
    state = chance.state_dict()
    wanted = chance.uniform(4), chance.python.random()
    other = Chance(1)
    other.load_state_dict(state)
    assert torch.equal(other.uniform(4), wanted[0])
    assert other.python.random() == wanted[1]


def test_a_pair_gives_the_states_the_pipeline_takes() -> None:
    torch.manual_seed(5)
    tokenizer = build_tokenizer()
    pair = Pair(len(tokenizer)).eval()
    with torch.no_grad():
        assert pair.states(tokenizer, ["a red ball", "nothing"], 12).shape == (2, 12, 192)
