"""The pages of the app, in the order of their buttons."""

from stickbreaker.app.pages.class_ import Class
from stickbreaker.app.pages.compare import ComparePage
from stickbreaker.app.pages.documents import Documents
from stickbreaker.app.pages.export import Export
from stickbreaker.app.pages.hood import Hood
from stickbreaker.app.pages.live import Live
from stickbreaker.app.pages.page import Page
from stickbreaker.app.pages.time import Time
from stickbreaker.app.pages.topics import Topics

PAGES: tuple[type[Page], ...] = (Live, Topics, Time, Documents, ComparePage, Export, Hood, Class)
