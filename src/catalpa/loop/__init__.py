"""The iteration, once: starts, settling, relearning, restarts."""
