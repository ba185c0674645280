"""What happens when time passes."""
