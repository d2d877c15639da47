"""The classes of all algorithms: their source, their parameters, and the checks of scikit-learn."""

import inspect
import subprocess
import sys
from dataclasses import fields
from typing import get_type_hints

import pytest
import sklearn
from packaging.version import Version
from sklearn.utils.estimator_checks import parametrize_with_checks

from stickbreaker import engine
from stickbreaker.engine import estimators
from stickbreaker.engine.algorithms import REGISTRY
from stickbreaker.engine.estimators.write_classes import TARGET, write_source
from tests.engine.estimators.small_models import CLASSES, make, single_document, unknown_length


@pytest.fixture
def other_arrays(monkeypatch):
    """Without this variable scikit-learn skips its check of arrays of other libraries."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")


def expect_failures(estimator):
    """The checks that fail for every class that needs whole numbers, and why."""
    reason = "before version 1.8, this check subtracts a float from whole numbers in place"
    return (
        {"check_positive_only_tag_during_fit": reason}
        if Version(sklearn.__version__) < Version("1.8")
        else {}
    )


@unknown_length
@single_document
@parametrize_with_checks([make(estimators.OnlineHDP)], expected_failed_checks=expect_failures)
@pytest.mark.usefixtures("other_arrays")
def test_the_online_hdp_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@unknown_length
@single_document
@pytest.mark.recovery
@pytest.mark.extended
@pytest.mark.usefixtures("other_arrays")
@parametrize_with_checks([kind() for kind in CLASSES], expected_failed_checks=expect_failures)
def test_every_class_passes_the_checks_of_scikit_learn_at_its_defaults(estimator, check):
    check(estimator)


def test_the_classes_in_the_source_are_those_of_the_declared_settings():
    assert TARGET.read_text(encoding="utf-8") == write_source(), (
        "settings have changed: python -m stickbreaker.engine.estimators.write_classes"
    )


def test_each_parameter_has_its_type_and_its_help_in_the_source():
    for kind in CLASSES:
        hints = get_type_hints(kind.__init__)
        for each in fields(kind.algorithm.config):
            assert hints[each.name] == each.type
            assert f"\n{each.name} : " in inspect.cleandoc(kind.__doc__)


def test_every_algorithm_has_a_class_whose_parameters_are_its_settings_and_those_of_the_run():
    assert [each.algorithm for each in CLASSES] == list(REGISTRY)
    for kind in CLASSES:
        defaults = {each.name: each.default for each in fields(kind.algorithm.config)}
        of_run = {"passes": None, "random_state": None, "unused_topics": "keep"}
        # An algorithm with a step of its own cannot divide it.
        of_run |= {"num_shards": None} if kind.algorithm.step is None else {}
        assert kind().get_params() == defaults | of_run
        assert all(name in kind.__doc__ for name in defaults)
        assert getattr(engine, kind.__name__) is kind
        assert (
            hasattr(kind, "partial_fit")
            == kind.__name__.startswith("Online")
            == ("batch_size" in defaults)
        )


def test_importing_the_engine_does_not_import_scikit_learn_pandas_or_dask():
    heavy = {"sklearn", "pandas", "dask", "distributed"}
    program = f"import sys; from stickbreaker import engine; assert not {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)
    assert len(dir(engine)) == len({*dir(engine)} & {*engine.__all__}) == 12
    assert (
        {each.__name__ for each in estimators.CLASSES.values()}
        <= {*estimators.__all__}
        <= {*engine.__all__}
    )
    assert all(getattr(engine, name) is getattr(estimators, name) for name in estimators.__all__)
    with pytest.raises(AttributeError, match="no attribute 'OnlineNothing'"):
        engine.OnlineNothing  # noqa: B018
