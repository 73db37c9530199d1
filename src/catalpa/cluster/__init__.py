"""The methods as scikit-learn estimators, one file each; ``registry`` lists them without importing them."""
