"""Views over the tables for common questions: one view per file, with one text for Spark and for DataFusion."""
