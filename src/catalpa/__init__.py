"""Catalpa clusters tables made of categories and shows why rows belong together."""

__version__ = "0.1.0"
