import panel as pn

pn.extension(notifications=True, throttled=True)
from stickbreaker.app.session.page import create  # noqa: E402

create().servable()
