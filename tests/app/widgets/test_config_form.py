from dataclasses import fields, replace

from stickbreaker.app.model.run_spec import describe_change, describe_config
from stickbreaker.app.widgets.config_form import ConfigForm, ask, find_faults, make_widget
from stickbreaker.engine import RunSettings
from stickbreaker.engine.algorithms.hdp import HDPConfig
from tests.app.small_runs import small_config

LIVE = {"forgetting_rate", "delay", "batch_size"}


def questions_of(config_class):
    return {question.name: question for question in ask(config_class, only_on_restart=False)}


def test_a_form_has_fields_for_settings_that_act_on_restart_only():
    names = [each.name for each in fields(HDPConfig)]
    assert [question.name for question in ask(HDPConfig)] == [
        name for name in names if name not in LIVE
    ]
    assert list(questions_of(HDPConfig)) == names


def test_the_kind_of_a_field_follows_its_type_and_its_choices():
    questions = questions_of(HDPConfig) | questions_of(RunSettings)
    kinds = {name: question.kind for name, question in questions.items()}
    assert kinds["max_topics"] == "whole"
    assert kinds["word_concentration"] == "number"
    assert kinds["start"] == "choice"
    assert kinds["score_next_batch"] == "switch"
    assert questions["max_topics"].label == "Maximum topics K"


def test_a_field_shows_its_help_with_its_bounds():
    help_texts = {
        name: make_widget(each).helper_text for name, each in questions_of(HDPConfig).items()
    }
    assert help_texts["max_topics"] == "Maximum number of topics in the model (1 to 2,000)."
    assert help_texts["word_concentration"] == "Lower values give each topic fewer words (above 0)."
    assert help_texts["batch_size"] == "Documents per mini-batch (at least 1)."


def test_untouched_forms_give_the_defaults():
    assert HDPConfig(**ConfigForm(HDPConfig).read()) == HDPConfig()
    assert RunSettings(**ConfigForm(RunSettings).read()) == RunSettings()


def test_a_fault_is_shown_at_its_field_until_it_is_corrected():
    form = ConfigForm(HDPConfig)
    form.widgets["max_topics"].value = 9999
    assert form.read() is None
    assert form.widgets["max_topics"].error_state
    assert "give a whole number from 1 to 2000" in form.widgets["max_topics"].helper_text
    assert not form.widgets["word_concentration"].error_state
    form.widgets["max_topics"].value = 5
    assert form.read()["max_topics"] == 5
    assert not form.widgets["max_topics"].error_state


def test_an_empty_field_is_a_fault_and_not_a_traceback():
    assert find_faults(HDPConfig, {"max_slots": None}) == {"max_slots": "enter a value"}


def test_a_setting_that_may_be_left_to_the_corpus_size_may_stay_empty():
    questions = questions_of(HDPConfig)
    assert (questions["delay"].kind, questions["batch_size"].kind) == ("number", "whole")
    assert make_widget(questions["batch_size"]).placeholder == "set by the size of the corpus"
    assert make_widget(questions["delay"]).value is None
    assert find_faults(HDPConfig, {"delay": None, "batch_size": None}) == {}


def test_a_filled_form_shows_the_config_it_was_given():
    config = HDPConfig(max_topics=7, start="wang")
    form = ConfigForm(HDPConfig)
    form.fill(config)
    assert HDPConfig(**form.answers()) == config


def test_settings_and_changes_of_them_are_named_by_their_symbols():
    config = small_config()
    assert describe_config(config) == "κ 0.6, τ₀ 64, S 10, K 3, duplicates keep"
    assert describe_change(config, replace(config, delay=1.0)) == "τ₀ 64 → 1"
    assert describe_change(config, config) == ""
