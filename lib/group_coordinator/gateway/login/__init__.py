"""Who the caller is: the login that passes through, read along."""
