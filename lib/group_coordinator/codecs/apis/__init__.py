"""The codecs of APIs, one module each: the request's fields, their meaning in each version, and the response's fields."""
