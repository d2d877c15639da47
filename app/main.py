import panel as pn; pn.extension(notifications=True, throttled=True)  # noqa: E702
from app.page import create  # noqa: E402
create().servable()
