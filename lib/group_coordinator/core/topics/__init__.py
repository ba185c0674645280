"""What a group may know of the cluster's topics."""
