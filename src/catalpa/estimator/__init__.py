"""What every estimator is made of, whatever its method."""
