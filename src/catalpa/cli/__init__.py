"""The ``catalpa`` command."""
