"""The methods, one file each, as scikit-learn estimators; ``registry`` names them and imports none."""
