"""Configs with few settings, for tests of forms and controls; runs of them would be those of the online HDP."""

from dataclasses import dataclass, field, replace

from stickbreaker.app.model.run_spec import RunSpec
from tests.app.small_runs import HDP


def setting(default, symbol, **metadata):
    return field(default=default, metadata={"symbol": symbol, "help": f"what {symbol} does", **metadata})


@dataclass(frozen=True)
class ToyConfig:
    max_topics: int = setting(3, "K", bounds=(1, 9))
    word_concentration: float = setting(0.01, "η", bounds=(1e-6, None))
    forgetting_rate: float = setting(0.6, "κ", bounds=(0.5, 1.0), live=True)
    delay: float = setting(64.0, "τ₀", bounds=(0.0, None), live=True)
    batch_size: int = setting(10, "S", bounds=(1, None), live=True)
    start: str = setting("warm", "", choices=("warm", "wang"))

    def __post_init__(self):
        if not 1 <= self.max_topics <= 9:
            raise ValueError(f"max_topics is {self.max_topics}, but must lie within 1 and 9: choose fewer topics")
        if not 0.5 <= self.forgetting_rate <= 1.0:
            raise ValueError(f"forgetting_rate is {self.forgetting_rate}, but must lie within 0.5 and 1")


@dataclass(frozen=True)
class SizedConfig(ToyConfig):
    """Leaves τ₀ and S to the corpus' size."""

    delay: float | None = setting(None, "τ₀", bounds=(0.0, None), live=True)
    batch_size: int | None = setting(None, "S", bounds=(1, None), live=True)


@dataclass(frozen=True)
class ToySettings:
    passes: int = setting(1, "", bounds=(1, None))
    num_test: int = setting(10, "", bounds=(0, None))
    num_evaluations: int = setting(10, "", bounds=(0, None))
    num_snapshots: int = setting(2, "", bounds=(1, None))
    is_shuffled: bool = setting(False, "")


TOY = replace(HDP, name="toy", title="Toy", config=ToyConfig)
SIZED = replace(HDP, name="sized", title="Sized", config=SizedConfig)


def sized_recipe(**values):
    return RunSpec("toy-corpus", SIZED, SizedConfig(**values), ToySettings())


def toy_recipe(**values):
    return RunSpec("toy-corpus", TOY, ToyConfig(**values), ToySettings())
