"""Group configurations: names, accepted values, and effective values."""
