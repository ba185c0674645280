"""History grows thinner with age: of ordinary rows few stay, all that is no ordinary row stays."""
