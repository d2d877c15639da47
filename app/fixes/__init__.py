"""Workarounds for faults of Panel, Bokeh, Tornado and panel-material-ui, each with its reason.

Where no address of an issue is given, no issue of the library is known. `tests/app/fixes` shows
each fault in the unchanged library. A workaround looks for the names that it needs, and is left out
if the library has them no longer.
"""
