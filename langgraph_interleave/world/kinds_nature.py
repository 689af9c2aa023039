"""Kinds: plants, sky, animals, people. Data only."""

from __future__ import annotations

from langgraph_interleave.world.kind import Kind, entry

PLANTS: tuple[Kind, ...] = (
    entry(
        "flower pot", 0.34, 0.28, "terracotta", "plant", synonyms=("pot", "flowerpot", "plant pot", "planter"),
        states=("empty", "with soil", "seeded", "sprouted", "leafy", "flowering"),
        state_words={
            "with soil": ("filled with soil", "full of soil", "with earth"), "seeded": ("planted", "with seed", "sown"),
            "sprouted": ("sprouting", "with a sprout", "germinated"), "leafy": ("growing", "with leaves"),
            "flowering": ("in bloom", "blooming", "blossoming", "in flower"),
        },
        extents={"sprouted": (0.34, 0.45), "leafy": (0.34, 0.6), "flowering": (0.34, 0.62)},
        backdrop="table", opening=0.1, surface=0.04,
    ),
    entry("seed", 0.06, 0.08, "straw", "plant", synonyms=("bean", "bean seed", "kernel"), backdrop="table"),
    entry("sprout", 0.24, 0.2, "leaf", "plant", synonyms=("seedling", "shoot"), backdrop="meadow"),
    entry(
        "plant", 0.26, 0.36, "leaf", "plant", states=("leafy", "flowering", "wilted"), backdrop="meadow",
        state_words={"flowering": ("in bloom", "blooming"), "wilted": ("wilting", "dry", "drooping", "thirsty")},
        extents={"wilted": (0.32, 0.26)},
    ),
    entry(
        "flower", 0.2, 0.34, "red", "plant", synonyms=("tulip", "daisy", "rose", "blossom", "sunflower"),
        states=("open", "bud", "wilted"), backdrop="meadow",
        state_words={"open": ("blooming", "in bloom"), "bud": ("closed", "budding"), "wilted": ("wilting", "drooping")},
        extents={"wilted": (0.2, 0.26)},
    ),
    entry("leaf", 0.2, 0.2, "leaf", "plant", plural="leaves", stands="air"),
    entry(
        "tree", 0.4, 0.5, "leaf", "plant", states=("leafy", "bare", "blossoming", "autumn", "with apples"),
        synonyms=("apple tree", "oak"), backdrop="meadow",
        state_words={
            "leafy": ("green", "in summer", "in leaf"), "bare": ("leafless", "in winter", "without leaves"),
            "blossoming": ("in bloom", "in spring", "blooming", "in blossom"), "autumn": ("in autumn", "in fall"),
            "with apples": ("full of apples", "bearing fruit"),
        },
        under=0.42,
    ),
    entry("pine tree", 0.32, 0.48, "leaf", "plant", synonyms=("fir", "fir tree", "christmas tree", "pine"),
          states=("plain", "decorated"), backdrop="snow"),
    entry("bush", 0.36, 0.22, "leaf", "plant", plural="bushes", synonyms=("shrub", "hedge"), backdrop="meadow"),
    entry("cactus", 0.22, 0.34, "leaf", "plant", plural="cacti", backdrop="beach"),
    entry("mushroom", 0.22, 0.22, "red", "plant", synonyms=("toadstool",), backdrop="forest"),
)  # fmt: skip

SKY: tuple[Kind, ...] = (
    entry("sun", 0.24, 0.24, "yellow", "sky", states=("shining", "rising", "setting"), stands="sky", backdrop="sky",
          state_words={"rising": ("at sunrise",), "setting": ("at sunset",)}),
    entry(
        "moon", 0.24, 0.24, "cream", "sky", recolourable=False, stands="sky", backdrop="night",
        states=("waxing crescent", "new", "first quarter", "waxing gibbous", "full", "waning gibbous", "last quarter",
                "waning crescent"),
        state_words={"waxing crescent": ("crescent",), "first quarter": ("half",), "last quarter": ("third quarter",)},
    ),
    entry("cloud", 0.32, 0.18, "white", "sky", states=("plain", "raining", "snowing", "stormy"), stands="sky",
          extents={"raining": (0.32, 0.36), "snowing": (0.32, 0.36), "stormy": (0.32, 0.36)}, backdrop="sky",
          synonyms=("rain cloud",), state_words={"raining": ("rainy", "with rain"), "snowing": ("snowy", "with snow"),
                                                 "stormy": ("with lightning", "thundering")}),
    entry("star", 0.16, 0.16, "yellow", "sky", stands="sky", backdrop="night"),
    entry("rainbow", 0.6, 0.3, "red", "sky", recolourable=False, stands="sky", backdrop="meadow"),
    entry("raindrop", 0.11, 0.15, "water", "sky", synonyms=("drop", "water drop", "droplet"), stands="sky"),
    entry("snowflake", 0.18, 0.18, "blue", "sky", stands="sky", backdrop="sky"),
)  # fmt: skip

ANIMALS: tuple[Kind, ...] = (
    entry(
        "cat", 0.32, 0.34, "orange", "animal", synonyms=("kitten", "kitty"), backdrop="paper",
        states=("finished", "head circle", "ears", "face", "body", "sleeping"),
        state_words={
            "head circle": ("head",), "ears": ("with ears",), "face": ("with face", "with a face"),
            "body": ("with body", "with a body"), "finished": ("complete", "sitting"), "sleeping": ("asleep",),
        },
        extents={"sleeping": (0.36, 0.2)},
    ),
    entry("dog", 0.36, 0.34, "brown", "animal", synonyms=("puppy",), states=("standing", "sitting"), backdrop="meadow"),
    entry("bird", 0.24, 0.2, "blue", "animal", states=("sitting", "flying"), stands="air", backdrop="meadow",
          synonyms=("sparrow", "robin"), extents={"flying": (0.32, 0.2)}),
    entry("fish", 0.28, 0.18, "orange", "animal", plural="fish", synonyms=("goldfish",), stands="air",
          backdrop="underwater"),
    entry("butterfly", 0.26, 0.22, "purple", "animal", plural="butterflies", stands="air", backdrop="meadow"),
    entry("caterpillar", 0.3, 0.14, "green", "animal", backdrop="meadow", synonyms=("worm",)),
    entry("chrysalis", 0.14, 0.3, "green", "animal", plural="chrysalises", synonyms=("cocoon", "pupa"),
          stands="air", backdrop="meadow"),
    entry("bee", 0.2, 0.16, "yellow", "animal", synonyms=("bumblebee",), stands="air", backdrop="meadow"),
    entry("ladybird", 0.2, 0.15, "red", "animal", synonyms=("ladybug", "beetle"), backdrop="meadow"),
    entry("snail", 0.28, 0.19, "brown", "animal", backdrop="meadow"),
    entry("rabbit", 0.26, 0.34, "grey", "animal", synonyms=("bunny", "hare"), backdrop="meadow"),
    entry("mouse", 0.24, 0.16, "grey", "animal", plural="mice"),
    entry("horse", 0.42, 0.4, "brown", "animal", synonyms=("pony",), backdrop="meadow"),
    entry("cow", 0.42, 0.34, "white", "animal", backdrop="meadow"),
    entry("pig", 0.34, 0.26, "pink", "animal", synonyms=("piglet",), backdrop="meadow"),
    entry("sheep", 0.37, 0.29, "cream", "animal", plural="sheep", synonyms=("lamb",), backdrop="meadow"),
    entry("hen", 0.26, 0.28, "brown", "animal", synonyms=("chicken",), backdrop="meadow"),
    entry("chick", 0.18, 0.2, "yellow", "animal", backdrop="meadow"),
    entry("duck", 0.28, 0.24, "yellow", "animal", synonyms=("duckling",), backdrop="meadow"),
    entry("frog", 0.26, 0.2, "green", "animal", synonyms=("toad",), backdrop="meadow",
          states=("grown", "eggs", "tadpole", "froglet"),
          state_words={"eggs": ("spawn", "frogspawn"), "froglet": ("tadpole with legs", "with legs")}),
    entry("turtle", 0.32, 0.2, "green", "animal", synonyms=("tortoise",), backdrop="beach"),
    entry("elephant", 0.44, 0.36, "grey", "animal", backdrop="meadow"),
    entry("whale", 0.44, 0.26, "blue", "animal", backdrop="underwater", stands="air"),
    entry("nest", 0.3, 0.16, "brown", "animal", states=("empty", "with eggs", "with chicks"), backdrop="meadow",
          extents={"with chicks": (0.3, 0.22)}, opening=0.3, surface=0.3),
)  # fmt: skip

PEOPLE: tuple[Kind, ...] = (
    entry("person", 0.24, 0.5, "blue", "person", plural="people",
          synonyms=("man", "woman", "adult", "teacher", "farmer"),
          states=("standing", "waving", "sitting", "walking", "running"), backdrop="meadow",
          state_words={"standing": ("upright",), "waving": ("hello",), "sitting": ("seated",)},
          extents={"sitting": (0.3, 0.42), "waving": (0.32, 0.5), "walking": (0.28, 0.5), "running": (0.34, 0.48)}),
    entry("child", 0.2, 0.38, "red", "person", plural="children", synonyms=("boy", "girl", "kid"),
          states=("standing", "waving", "sitting", "walking", "running"), backdrop="meadow",
          extents={"sitting": (0.26, 0.33), "waving": (0.24, 0.38), "walking": (0.24, 0.38), "running": (0.28, 0.37)}),
    entry("baby", 0.22, 0.24, "yellow", "person", plural="babies"),
    entry("hand", 0.24, 0.3, "skin", "body", states=("open", "wet", "soapy", "pointing", "thumb up"),
          recolourable=False,
          state_words={"wet": ("rinsed", "under water"), "soapy": ("lathered", "with soap"), "pointing": ("finger",)}),
    entry("face", 0.3, 0.32, "skin", "body", states=("smiling", "sad", "surprised", "sleeping"), recolourable=False,
          synonyms=("head",), state_words={"smiling": ("happy",), "sad": ("unhappy", "crying")}),
    entry("tooth", 0.2, 0.24, "white", "body", plural="teeth", states=("clean", "dirty", "sparkling"),
          recolourable=False, state_words={"dirty": ("with plaque",), "sparkling": ("shiny",)}),
    entry("heart", 0.24, 0.22, "red", "shape", stands="air"),
)  # fmt: skip
