"""Figures of what `analysis` computed; drawing needs the extra `plot`."""
