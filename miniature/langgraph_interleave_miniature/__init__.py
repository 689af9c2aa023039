"""A miniature FLUX.2 [klein], trained from nothing on drawings made by code, to see and test the loop with."""

__version__ = "0.1.0"
