"""Critics: chat models that judge a picture, and ways to ask several of them."""
