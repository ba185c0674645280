"""What the job says about itself."""
