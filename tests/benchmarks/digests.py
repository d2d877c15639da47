"""SHA-256 of what each algorithm has learned, with each choice of its settings, to compare two
versions bit for bit.

    python -m tests.benchmarks.digests [SYSTEM ...] [--json FILE] > before.txt
    python -m tests.benchmarks.digests [SYSTEM ...] | diff before.txt -     # after a change of the
    code

Run both on one machine, since the digests depend on its processor and on the versions of NumPy,
SciPy and numba. Each line has the system, the settings that differ from the defaults, the number of
steps, and the digest. It covers the state after some passes over a simulated corpus (λ, tables, the
assignments of samplers and so on), the summary, and the topic shares and the score of held-out
documents.
"""

import argparse
import hashlib
from dataclasses import fields, replace

import numpy as np

from stickbreaker.engine import REGISTRY, RunSettings, find_algorithm, prepare, run
from stickbreaker.engine.runs.checkpoint import flatten
from stickbreaker.engine.simulate import simulate_hdp
from tests.benchmarks.heldout import write_json

SMALL = {"max_topics": 15, "initial_topics": 15}
SETTINGS = RunSettings(passes=4, num_test=30)


def simulate_corpus(num_documents=300):
    """Documents of forty tokens from eight topics of 150 words."""
    rng = np.random.default_rng(7)
    return simulate_hdp(
        rng.dirichlet(np.full(150, 0.05), 8), num_documents, 40, 2.0, 2.0, rng
    ).corpus


def list_choices(algorithm):
    """The settings to compare: the defaults, each value of each choice that is not a default."""
    choices = [
        (each.name, value)
        for each in fields(algorithm.config)
        for value in each.metadata.get("choices") or ()
    ]
    defaults = {each.name: each.default for each in fields(algorithm.config)}
    return [{}, *({name: value} for name, value in choices if value != defaults[name])]


def make_config(algorithm, chosen):
    """A small model with these choices."""
    config = algorithm.config(**chosen)
    names = {each.name for each in fields(config)}
    return replace(config, **{name: size for name, size in SMALL.items() if name in names})


def digest_run(algorithm, config, corpus, settings=SETTINGS):
    """The number of steps of a run, and the digest of what it has learned."""
    prepared = prepare(algorithm, config, corpus, settings)
    *_, update = run(prepared)
    arrays = dict(flatten("state", update.state))
    arrays |= algorithm.summarize(prepared.config, update.state)._asdict()
    arrays["shares"] = algorithm.infer(prepared.config, update.state, prepared.test.documents())
    arrays["nats"] = np.array([score.nats_per_word for score in update.scores])
    digest = hashlib.sha256()
    for name, array in arrays.items():
        digest.update(f"{name} {array.dtype} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return update.stepped.info.step, digest.hexdigest()


def main(arguments=None):
    """Print a line for each system and choice."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "systems", nargs="*", metavar="SYSTEM", help="names of algorithms; all by default"
    )
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args(arguments)
    systems = arguments.systems or [algorithm.name for algorithm in REGISTRY]
    corpus, rows = simulate_corpus(), []
    for algorithm in map(find_algorithm, systems):
        for chosen in list_choices(algorithm):
            steps, digest = digest_run(algorithm, make_config(algorithm, chosen), corpus)
            named = " ".join(f"{name}={value}" for name, value in chosen.items()) or "defaults"
            print(f"{algorithm.name:17} {named:28} {steps:4} {digest}", flush=True)
            rows.append(
                {"system": algorithm.name, "choice": named, "steps": steps, "digest": digest}
            )
    write_json(arguments.json, rows)


if __name__ == "__main__":
    main()
