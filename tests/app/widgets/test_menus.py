"""Selects, sliders and hidden figures, where those of the libraries have faults that
ours have not.
"""

import panel as pn
import panel_material_ui as pmui
import pytest
from bokeh.document import Document
from bokeh.models import LayoutDOM
from bokeh.plotting import figure
from pyviz_comms import Comm

from stickbreaker.app.widgets.config_form import empty_if_zero
from stickbreaker.app.widgets.layouts import hideable
from stickbreaker.app.widgets.menus import Echoes, offer
from stickbreaker.app.widgets.sliders import PlacesSlider


def count_values(change):
    """How often the value of a select is sent while a function changes its labels."""
    select = pmui.Select(options={"topic 1": 1, "topic 2": 2}, value=1)
    model = select.get_root(Document(), Comm())
    sent = []
    model.data.on_change("value", lambda name, old, new: sent.append(new))
    change(select)
    return sent


def test_a_select_sends_its_new_label_only_if_it_is_told_to():
    renamed = {"war": 1, "topic 2": 2}
    assert count_values(lambda select: select.param.update(options=renamed, value=1)) == []
    assert count_values(lambda select: offer(select, renamed, 1)) == ["war"]


def test_panel_refuses_the_value_of_a_select_without_options_and_sets_it_without_end():
    select, kept = (pmui.Select(options={"topic 1": 1}, value=1) for _ in range(2))
    for each in (select, kept):
        each.get_root(Document(), Comm())
    select.param.update(options={}, value=None)
    select._process_events({"value": "topic 1"})
    assert select.value is None
    with pytest.raises(RecursionError):
        select.param.trigger("value")
    offer(kept, {}, None)
    assert (kept.options, kept.value) == ({"topic 1": 1}, 1)


def test_panel_draws_a_figure_whose_pane_is_hidden_at_first():
    hidden, column = pn.pane.Bokeh(figure(), visible=False), hideable(figure())
    column.visible = False
    drawn = [
        view.get_root(Document(), Comm()).select({"type": LayoutDOM}) for view in (hidden, column)
    ]
    assert [all(model.visible for model in models) for models in drawn] == [True, False]


def values_of(slider_class: type[pmui.DiscreteSlider]) -> list[object]:
    """What a slider over 16, 32 and 64 makes of a browser's message on the third."""
    slider = slider_class(options=[16, 32, 64], value=16)
    with pn.config.set(throttled=True):
        changes = slider._process_property_change({"value_throttled": 2})
    return [changes.get("value"), changes.get("value_throttled")]


def test_a_slider_of_the_library_takes_the_index_of_a_value_for_the_value():
    assert values_of(PlacesSlider) == [64, 64]
    with pytest.raises(ValueError, match="2 is not in list|2 not in list"):
        values_of(pmui.DiscreteSlider)


@pytest.mark.parametrize("kind", [pmui.IntInput, pmui.FloatInput])
def test_the_library_sends_0_for_a_number_without_a_value(kind):
    assert kind(value=None).get_root(Document()).data.value == 0
    shown = kind(value=None, format=empty_if_zero()).get_root(Document()).data.format
    assert shown.code == "return tick ? String(tick) : ''"


def test_a_replaced_value_is_an_echo_for_half_a_minute_or_until_the_user_chooses():
    now = [0.0]
    echoes = Echoes(lambda: now[0])
    echoes.note([1])
    now[0] = Echoes.SECONDS - 1
    echoes.note([2])
    assert [echoes.holds(value) for value in ([1], [2], [3])] == [True, True, False]
    now[0] = Echoes.SECONDS
    assert [echoes.holds(value) for value in ([1], [2])] == [False, True]
    echoes.forget()
    assert not echoes.holds([2])
