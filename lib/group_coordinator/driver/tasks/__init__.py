"""Background tasks of a coordinator's driver: topics, transaction markers, ACLs, monitors."""
