from dataclasses import replace

from stickbreaker.app.model.run_spec import describe_change, describe_config
from stickbreaker.app.widgets.config_form import ConfigForm, ask, find_faults, make_widget
from tests.app.small_configs import SizedConfig, ToyConfig, ToySettings


def test_a_form_has_fields_for_settings_that_act_on_restart_only():
    assert [question.name for question in ask(ToyConfig)] == ["max_topics", "word_concentration", "start"]
    assert len(ask(ToyConfig, only_on_restart=False)) == 6


def test_the_kind_of_a_field_follows_the_type_and_its_bounds_and_help_the_metadata():
    questions = {question.name: question for question in (*ask(ToyConfig), *ask(ToySettings))}
    kinds = {name: question.kind for name, question in questions.items()}
    assert kinds["max_topics"] == "whole"
    assert kinds["word_concentration"] == "number"
    assert kinds["start"] == "choice"
    assert kinds["is_shuffled"] == "switch"
    assert (questions["max_topics"].low, questions["max_topics"].high) == (1, 9)
    assert questions["max_topics"].label == "Maximum topics K"
    assert ConfigForm(ToyConfig).widgets["max_topics"].helper_text == "What K does (1 to 9)."


def test_untouched_forms_give_the_defaults():
    assert ToyConfig(**ConfigForm(ToyConfig).read()) == ToyConfig()
    assert ToySettings(**ConfigForm(ToySettings).read()) == ToySettings()


def test_a_fault_is_shown_at_its_field_until_it_is_corrected():
    form = ConfigForm(ToyConfig)
    form.widgets["max_topics"].value = 99
    assert form.read() is None
    assert form.widgets["max_topics"].error_state
    assert "choose fewer topics" in form.widgets["max_topics"].helper_text
    assert not form.widgets["word_concentration"].error_state
    form.widgets["max_topics"].value = 5
    assert form.read()["max_topics"] == 5
    assert not form.widgets["max_topics"].error_state


def test_an_empty_field_is_a_fault_and_not_a_traceback():
    assert find_faults(ToyConfig, {"max_topics": None}) == {"max_topics": "enter a value"}


def test_a_setting_that_may_be_left_to_the_corpus_size_may_stay_empty():
    questions = {question.name: question for question in ask(SizedConfig, only_on_restart=False)}
    assert (questions["delay"].kind, questions["batch_size"].kind) == ("number", "whole")
    assert make_widget(questions["batch_size"]).placeholder == "set by the corpus' size"
    assert make_widget(questions["delay"]).value is None
    assert find_faults(SizedConfig, {"delay": None, "batch_size": None}) == {}


def test_a_filled_form_shows_the_config_it_was_given():
    form = ConfigForm(ToyConfig)
    form.fill(ToyConfig(max_topics=7, start="wang"))
    assert form.answers() == {"max_topics": 7, "word_concentration": 0.01, "start": "wang"}


def test_settings_and_changes_of_them_are_named_by_their_symbols():
    config = ToyConfig()
    assert describe_config(config) == "κ 0.6, τ₀ 64, S 10, K 3, start warm"
    assert describe_change(config, replace(config, delay=1.0)) == "τ₀ 64 → 1"
    assert describe_change(config, config) == ""
