"""Changes of a plan that exists: the user's, a reviewer's, and what a photo of the user's own work asks for."""
