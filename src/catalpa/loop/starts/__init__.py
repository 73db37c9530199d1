"""Where an iteration begins."""
