"""Where a pass runs: one protocol, and the engines that follow it."""
