"""Conversion between JSON or bytes and core's values. The shape of an API's version ends here."""
