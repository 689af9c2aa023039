"""Export: the trained parts as the folder that the real pipeline loads, in half precision."""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path

import torch

from langgraph_interleave_miniature.reader import READERS
from training.models import Autoencoder, deepened
from training.tokenizer import build_tokenizer
from training.transformer import Pair

_log = logging.getLogger(__name__)
#: The pipeline's folder within the package's weights.
PIPELINE = "pipeline"


def export(work: Path, out: Path, *, seed: int = 0) -> dict[str, int]:
    """Writes pipeline and readers.

    The scheduler is the real one's: its noise levels are moved towards 1 by the pipeline itself. `is_distilled` makes
    the pipeline leave guidance alone, which the miniature was not trained for: every call's defaults are safe.

    Args:
        work: Where the stages left their results.
        out: Folder of the weights; what is in it is replaced.
        seed: The same as in training, for the tokenizer.

    Returns:
        Bytes by file.
    """
    from diffusers.models.autoencoders.autoencoder_kl_flux2 import AutoencoderKLFlux2
    from diffusers.pipelines.flux2.pipeline_flux2_klein import Flux2KleinPipeline
    from diffusers.schedulers.scheduling_flow_match_euler_discrete import FlowMatchEulerDiscreteScheduler

    tokenizer = build_tokenizer(seed)
    pair = Pair(len(tokenizer))
    pair.load_state_dict(torch.load(work / "pair.pt", map_location="cpu"))
    polished = work / "polished"
    autoencoder: Autoencoder = AutoencoderKLFlux2.from_pretrained(
        polished if polished.exists() else work / "autoencoder"
    )
    pipeline = Flux2KleinPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(use_dynamic_shifting=True),
        vae=autoencoder.eval(),
        text_encoder=deepened(pair.text),
        tokenizer=tokenizer,
        transformer=pair.transformer.eval(),
        is_distilled=True,
    ).to(dtype=torch.float16)
    shutil.rmtree(out, ignore_errors=True)
    pipeline.save_pretrained(out / PIPELINE, safe_serialization=True)
    for name in READERS.values():
        shutil.copyfile(work / name, out / name)
    sizes = {str(file.relative_to(out)): file.stat().st_size for file in sorted(out.rglob("*")) if file.is_file()}
    _log.info("export: %d bytes %s", sum(sizes.values()), json.dumps(sizes))
    return sizes
