"""`train-encoder`: fit the encoder to a company's documents."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import click

from assistant.errors import InvalidInput


@click.command("train-encoder")
@click.argument("documents", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@click.option("--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="The adapter's file.")
@click.option("--epochs", default=4, show_default=True, type=click.IntRange(1, 50))
def train_encoder(documents: tuple[Path, ...], out: Path, epochs: int) -> None:
    """Train the default encoder on documents and the questions beside them, together with the shipped guidance.

    Beside NAME.md, NAME.questions.txt holds questions that the sections answer: "## Heading", then a question a line.
    Documents without one are trained with their headings and sentences. Takes about 40 minutes on two cores.
    """
    if any(find_spec(name) is None for name in ("peft", "datasets", "accelerate")):
        raise InvalidInput("Training needs more packages: pip install 'cloud-training-advisor[train]'.")
    from knowledge.encoders.adapter import write_adapter
    from knowledge.shipped import shipped_paths
    from knowledge.training.material import read_passages
    from knowledge.training.train import adapter_of, train

    own = read_passages(documents)
    if not own:
        raise InvalidInput("The documents hold no passages to train on. Name files or folders with text.")
    passages = [*own, *read_passages(shipped_paths())]
    questions = sum(len(passage.questions) for passage in own)
    click.echo(f"{len(own):,} passages and {questions:,} questions of yours, with the shipped guidance.", err=True)
    write_adapter(out, adapter_of(train(passages, epochs), passages))
    click.echo(f"Wrote {out}. Use it: ADVISOR_ENCODER=adapter:{out.resolve()} advisor index --reencode", err=True)
