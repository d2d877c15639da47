"""Threads of this process, and the workers of a Dask cluster."""
