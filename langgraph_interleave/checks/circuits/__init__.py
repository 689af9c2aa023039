"""Circuits read from the drawings they were rendered from."""
