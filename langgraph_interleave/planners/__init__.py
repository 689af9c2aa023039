"""Planners: who lays a sequence out."""
