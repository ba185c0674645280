"""What the job answers: every API of groups, and the lists of groups."""
