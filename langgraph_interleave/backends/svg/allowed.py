"""What a drawing may be made of: elements, attributes, properties, functions. Data only.

Everything else is left out. Nothing here loads, runs or points anywhere but into the drawing itself.
"""

from __future__ import annotations

SHAPES = frozenset({"circle", "ellipse", "image", "line", "path", "polygon", "polyline", "rect", "text", "use"})
_STRUCTURE = frozenset({"defs", "g", "svg", "symbol"})
_TEXTS = frozenset({"textPath", "tspan"})
_PAINT = frozenset(
    {"clipPath", "linearGradient", "marker", "mask", "pattern", "radialGradient", "stop"}
)  # fmt: skip
_FILTERS = frozenset(
    {"feBlend", "feColorMatrix", "feComponentTransfer", "feComposite", "feDropShadow", "feFlood", "feFuncA", "feFuncB",
     "feFuncG", "feFuncR", "feGaussianBlur", "feMerge", "feMergeNode", "feMorphology", "feOffset", "filter"}
)  # fmt: skip
ELEMENTS = SHAPES | _STRUCTURE | _TEXTS | _PAINT | _FILTERS | frozenset({"desc", "style", "title"})
#: Elements whose words are kept.
WORDED = frozenset({"desc", "style", "text", "textPath", "title", "tspan"})
#: Elements whose words are drawn.
WRITTEN = frozenset({"text", "textPath", "tspan"})
#: Elements that may name another one of the drawing.
REFERRING = frozenset({"linearGradient", "pattern", "radialGradient", "textPath", "use"})

#: Properties: as attributes, in `style` attributes, in style sheets.
PROPERTIES = frozenset(
    {"alignment-baseline", "baseline-shift", "clip-path", "clip-rule", "color", "color-interpolation-filters",
     "direction", "display", "dominant-baseline", "fill", "fill-opacity", "fill-rule", "filter", "flood-color",
     "flood-opacity", "font-family", "font-size", "font-stretch", "font-style", "font-variant", "font-weight",
     "image-rendering", "isolation", "letter-spacing", "marker-end", "marker-mid", "marker-start", "mask", "mask-type",
     "mix-blend-mode", "opacity", "overflow", "paint-order", "shape-rendering", "stop-color", "stop-opacity", "stroke",
     "stroke-dasharray", "stroke-dashoffset", "stroke-linecap", "stroke-linejoin", "stroke-miterlimit",
     "stroke-opacity", "stroke-width", "text-anchor", "text-decoration", "text-rendering", "transform",
     "unicode-bidi", "vector-effect", "visibility", "word-spacing", "writing-mode"}
)  # fmt: skip
_GEOMETRY = frozenset(
    {"cx", "cy", "d", "dx", "dy", "fr", "fx", "fy", "height", "lengthAdjust", "pathLength", "points",
     "preserveAspectRatio", "r", "rotate", "rx", "ry", "startOffset", "textLength", "viewBox", "width", "x", "x1",
     "x2", "y", "y1", "y2"}
)  # fmt: skip
_OF_PAINT = frozenset(
    {"clipPathUnits", "filterUnits", "gradientTransform", "gradientUnits", "markerHeight", "markerUnits",
     "markerWidth", "maskContentUnits", "maskUnits", "offset", "orient", "patternContentUnits", "patternTransform",
     "patternUnits", "primitiveUnits", "refX", "refY", "spreadMethod"}
)  # fmt: skip
_OF_FILTERS = frozenset(
    {"amplitude", "exponent", "in", "in2", "intercept", "k1", "k2", "k3", "k4", "mode", "operator", "radius", "result",
     "slope", "stdDeviation", "tableValues", "type", "values"}
)  # fmt: skip
ATTRIBUTES = PROPERTIES | _GEOMETRY | _OF_PAINT | _OF_FILTERS | frozenset({"class", "id", "style", "xml:space"})

#: Functions in values, in small letters; `url` only with `#id`.
FUNCTIONS = frozenset(
    {"hsl", "hsla", "matrix", "rgb", "rgba", "rotate", "scale", "skewx", "skewy", "translate", "url"}
)  # fmt: skip

#: Left out without a word: editors' and authors' notes, which draw nothing.
UNTOLD = frozenset({"metadata"})
