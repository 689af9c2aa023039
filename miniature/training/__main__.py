"""Command line: `python -m training all --work W --out DIR`, from the folder `miniature/`."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from dataclasses import replace
from pathlib import Path

#: Minutes of a stage on two shared CPU cores and on a GPU.
_MINUTES = {"autoencoder": (26.0, 2.5), "transformer": (60.0, 6.0), "decoder": (9.0, 1.0)}
#: Batch sizes likewise.
_BATCH = {"autoencoder": (12, 128), "transformer": (64, 1024), "decoder": (12, 128)}
STAGES = ("autoencoder", "transformer", "readers", "decoder", "export", "evaluate", "sheet")


def _arguments(given: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m training",
        description="Makes the miniature's weights. A stage that was stopped goes on; a finished one is passed over.",
    )
    parser.add_argument("stage", choices=("all", *STAGES))
    parser.add_argument("--work", type=Path, required=True, help="folder for checkpoints and what stages hand on")
    parser.add_argument("--out", type=Path, help="folder of the weights; needed from `export` on")
    parser.add_argument("--minutes", type=float, help="of the one stage named, by the clock")
    parser.add_argument("--steps", type=int, help="of the one stage named, instead of minutes")
    parser.add_argument("--batch", type=int, help="of the one stage named")
    parser.add_argument("--bases", type=int, default=6000, help="base scenes of the transformer's data")
    parser.add_argument("--count", type=int, default=240, help="prompts a row of the evaluation")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    chosen = parser.parse_args(given)
    if chosen.out is None and chosen.stage in ("all", "export", "evaluate", "sheet"):
        parser.error("--out is needed: the folder the weights go to.")
    return chosen


def main(given: list[str] | None = None) -> None:
    """Runs the stages that were asked for."""
    chosen = _arguments(sys.argv[1:] if given is None else given)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    import torch

    torch.set_num_threads(chosen.threads)
    for stage in STAGES if chosen.stage == "all" else (chosen.stage,):
        _run(stage, chosen)


def _run(stage: str, chosen: argparse.Namespace) -> None:
    from training.autoencoder import AutoencoderSettings, train_autoencoder
    from training.decoder import DecoderSettings, polish_decoder
    from training.evaluation import evaluate
    from training.export import export
    from training.loop import Budget
    from training.readers import train_reader
    from training.sheet import make_curve, make_sheet
    from training.transformer import TransformerSettings, train_transformer

    fast = chosen.device == "cuda"
    one = chosen.stage == stage
    work, common = chosen.work, {"seed": chosen.seed, "device": chosen.device}
    if stage in _MINUTES:
        minutes = (chosen.minutes if one else None) or _MINUTES[stage][fast]
        budget = Budget(steps=chosen.steps) if one and chosen.steps else Budget(seconds=60 * minutes)
        batch = (chosen.batch if one else None) or _BATCH[stage][fast]
        if stage == "autoencoder":
            train_autoencoder(work, budget, **common, settings=AutoencoderSettings(batch=batch))
        elif stage == "transformer":
            settings = replace(TransformerSettings(batch=batch, bases=chosen.bases), check_s=60 if fast else 480)
            train_transformer(work, budget, **common, settings=settings)
        else:
            polish_decoder(work, budget, **common, settings=DecoderSettings(batch=batch))
    elif stage == "readers":
        for name in ("critic", "independent"):
            train_reader(work, name, device=chosen.device)
    elif stage == "export":
        export(work, chosen.out, seed=chosen.seed)
    elif stage == "evaluate":
        evaluate(chosen.out, work / "evaluation.json", count=chosen.count, chains=chosen.count)
    else:
        make_sheet(chosen.out, work / "sheet.png")
        make_curve(work, work / "curve.png")


if __name__ == "__main__":
    main()
