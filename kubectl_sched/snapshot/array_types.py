"""Names for the numpy arrays that the columns are made of. Imported for type checking only."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Codes: TypeAlias = npt.NDArray[np.int32]
"""The index of each row's distinct value."""

Integers: TypeAlias = npt.NDArray[np.int64]
"""Quantities and scores, in Go's int64."""

Floats: TypeAlias = npt.NDArray[np.float64]
"""Go's float64."""

Rows: TypeAlias = npt.NDArray[np.intp]
"""Row numbers."""

Mask: TypeAlias = npt.NDArray[np.bool_]
"""One truth value a row."""
