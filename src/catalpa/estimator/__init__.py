"""The parts that all estimators share."""
