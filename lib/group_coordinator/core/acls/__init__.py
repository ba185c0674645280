"""ACLs: rules of who may do what, the authorizer that answers by them, and what requests need."""
