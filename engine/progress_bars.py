"""Progress bars for terminals and notebooks, shown only where the caller asks for one."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Moves a bar to a position, with a message in front of it.
Move = Callable[[float, str], None]
# Receives the share of the work that is done, from 0 to 1, and a message.
Report = Callable[[float, str], None]
SHARE_FORMAT = "{desc}{percentage:3.0f}%|{bar}| {elapsed}"


@contextmanager
def show_progress(is_shown: bool, total: int | None = None, unit: str = "") -> Iterator[Move]:
    """Yield a function that moves a progress bar, or that does nothing if the bar is not shown.

    The bar goes to the standard error stream, or into the output of a notebook's cell.

    Parameters
    ----------
    is_shown : bool
        Whether there is a bar.
    total : int, optional
        The position of the end. Without it, positions are shares from 0 to 1.
    unit : str
        What `total` counts.
    """
    if not is_shown:
        yield lambda position, message: None
        return
    # The import warns in a notebook without ipywidgets, so it waits until a bar is wanted.
    from tqdm.auto import tqdm

    bar_format = SHARE_FORMAT if total is None else None
    with tqdm(total=total or 1.0, unit=f" {unit}", bar_format=bar_format) as bar:

        def move(position: float, message: str) -> None:
            bar.set_description(message, refresh=False)
            bar.update(position - bar.n)

        yield move


@contextmanager
def show_share(is_shown: bool, callback: Callable[[float], object] | None) -> Iterator[Report]:
    """Yield a function that reports the share of the work that is done, from 0 to 1, and a message.

    The share goes to a progress bar if it is shown, and to the callback if there is one.
    """
    with show_progress(is_shown) as move:

        def report(share: float, message: str) -> None:
            move(share, message)
            if callback is not None:
                callback(share)

        yield report
