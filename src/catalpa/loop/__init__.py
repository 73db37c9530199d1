"""The iteration, once: starts, settling, relearning, soft passes, restarts."""
