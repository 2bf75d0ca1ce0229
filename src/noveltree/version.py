"""The version of noveltree, written into every protocol."""

__version__ = "0.1.0"
