"""Views over the tables for common questions: mostly a view per file, with the same text for Spark and for DataFusion."""
