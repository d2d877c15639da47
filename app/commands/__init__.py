"""What one browser asks of its run: typed methods, which refuse the requests of a watcher."""
