"""The questions people ask, as views over the tables: one view a file, one text for Spark and for DataFusion."""
