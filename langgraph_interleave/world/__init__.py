"""The built-in world: scenes as data, drawn by code, told in words, with seeded faults and a critic of pixels."""
