"""All rows, in the order of the tables."""
from . import converted, more, other, text, vision

ROWS = [*vision.MODELS, *other.MODELS, *text.MODELS, *more.MODELS, *converted.MODELS]
