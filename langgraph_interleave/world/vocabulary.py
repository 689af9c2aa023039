"""What the built-in world knows: kinds of things by name, and backdrops by name. Data only."""

from __future__ import annotations

from collections.abc import Mapping

from langgraph_interleave.world import kinds_made, kinds_nature
from langgraph_interleave.world.kind import Backdrop, Kind, entry

__all__ = ["BACKDROPS", "CARD", "KINDS", "PHOTO", "Backdrop", "Kind"]

#: A labelled card: what stands for a thing nobody here knows how to draw.
CARD = entry("card", 0.34, 0.24, "paper", "sign", stands="air", synonyms=("label",))
#: The photo that a scene pins up; not a thing to ask for, but a thing to stand beside.
PHOTO = entry("photo", 0.62, 0.5, "paper", "sign", stands="air", recolourable=False)

#: Every kind, by name.
KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        *kinds_nature.PLANTS, *kinds_nature.SKY, *kinds_nature.ANIMALS, *kinds_nature.PEOPLE,
        *kinds_made.PLACES, *kinds_made.VEHICLES, *kinds_made.KITCHEN, *kinds_made.FOOD, *kinds_made.STATIONERY,
        *kinds_made.HOME, *kinds_made.TOOLS, *kinds_made.SCIENCE, *kinds_made.TOYS, *kinds_made.CLOTHES, CARD,
    )
}  # fmt: skip

#: Every backdrop, by name.
BACKDROPS: Mapping[str, Backdrop] = {
    backdrop.name: backdrop
    for backdrop in (
        Backdrop("paper", 0.83, synonyms=("plain", "blank", "white background", "nothing")),
        Backdrop("table", 0.72, synonyms=("tabletop", "window sill", "windowsill"), indoors=True),
        Backdrop("desk", 0.72, synonyms=("workbench", "school desk", "classroom"), indoors=True),
        Backdrop("kitchen", 0.72, synonyms=("kitchen counter", "worktop", "counter"), indoors=True),
        Backdrop("room", 0.7, synonyms=("living room", "bedroom", "indoors", "inside", "hall"), indoors=True),
        Backdrop("bathroom", 0.7, synonyms=("washroom", "bath"), indoors=True),
        Backdrop("meadow", 0.64, synonyms=("field", "grass", "lawn", "outdoors", "outside", "park", "countryside")),
        Backdrop("garden", 0.66, synonyms=("flower bed", "yard", "backyard", "vegetable patch")),
        Backdrop("forest", 0.66, synonyms=("woods", "wood", "woodland")),
        Backdrop("mountains", 0.64, synonyms=("mountain range", "hills", "alps")),
        Backdrop("beach", 0.6, synonyms=("seaside", "sand", "shore", "desert")),
        Backdrop("sea", 0.58, synonyms=("water", "ocean", "lake", "pond", "river")),
        Backdrop("underwater", 0.9, 0.86, synonyms=("under water", "seabed", "aquarium"), floats=True),
        Backdrop("street", 0.66, synonyms=("road", "town", "city", "crossing", "pavement")),
        Backdrop("snow", 0.64, synonyms=("winter", "snowy field", "winter landscape")),
        Backdrop("sky", 0.9, 0.86, synonyms=("blue sky", "air", "day sky"), floats=True),
        Backdrop("night", 0.76, 0.86, synonyms=("night sky", "starry sky", "evening", "dark")),
        Backdrop("space", 0.9, 0.86, synonyms=("outer space", "universe", "cosmos"), floats=True),
    )
}
