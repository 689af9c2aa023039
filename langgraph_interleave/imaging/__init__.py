"""Pictures from outside: input files made plain, backends' answers verified, references for requests."""

from langgraph_interleave.imaging.fetching import fetch_image, is_web_address
from langgraph_interleave.imaging.formats import MAX_PIXELS, sniff
from langgraph_interleave.imaging.parts import aimage_part, image_part
from langgraph_interleave.imaging.picture import MAX_BYTES, MIMES, downscale, load_image, measure_image, verify_image

__all__ = [
    "MAX_BYTES",
    "MAX_PIXELS",
    "MIMES",
    "aimage_part",
    "downscale",
    "fetch_image",
    "image_part",
    "is_web_address",
    "load_image",
    "measure_image",
    "sniff",
    "verify_image",
]
