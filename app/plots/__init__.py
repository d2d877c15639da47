"""Data frames to figures. Pure: no widget."""
