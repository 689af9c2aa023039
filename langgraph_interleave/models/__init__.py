"""What speaking to models has in common: their errors as ours."""
