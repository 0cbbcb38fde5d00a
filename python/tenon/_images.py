"""Encoded images as rows of a tensor."""

from __future__ import annotations

import dataclasses
from typing import Any, Optional, Tuple

import numpy as np

from tenon import ops
from tenon._errors import Error
from tenon._numpy import dtype_of

Array = np.ndarray[Any, Any]


@dataclasses.dataclass(frozen=True)
class Image:
    """How encoded images (JPEG, PNG, GIF's first frame, BMP) become rows of an input.

    Each is decoded as TensorFlow decodes it, resized (bilinear, half-pixel centers) if it has another size, and then
    `value * scale + offset` of 0 to 255.

    Attributes:
      size: height and width; by default, those of the input's shape; where that leaves them free, no image is resized
        and all must have one size
      channels: 1 or 3; by default, the input's
      scale, offset: 1 / 255 and 0 give values from 0 to 1

    >>> Image((224, 224), scale=1 / 127.5, offset=-1)
    Image(size=(224, 224), channels=None, scale=0.00784313725490196, offset=-1)
    """

    size: Optional[Tuple[int, int]] = None
    channels: Optional[int] = None
    scale: float = 1.0
    offset: float = 0.0

    def decode(self, data: bytes, dtype: str, shape: Optional[Tuple[Optional[int], ...]]) -> Array:
        """The image as an array [height, width, channels] of the dtype.

        shape: what is known of the input's rows, [height, width, channels]. ValueError if `data` is no image.
        """
        if shape is None or len(shape) != 3:
            shape = (None, None, None)
        channels = self.channels or shape[2] or 3
        size = self.size
        if size is None and shape[0] is not None and shape[1] is not None:
            size = (shape[0], shape[1])
        try:
            pixels = ops.DecodeImage(data, channels=channels, expand_animations=False)
            if size is not None and pixels.shape[:2] != size:
                whole = ops.ExpandDims(pixels, 0)
                pixels = ops.Squeeze(ops.ResizeBilinear(whole, list(size), half_pixel_centers=True), squeeze_dims=[0])
        except Error as error:
            raise ValueError(str(error)) from None
        found: Array = pixels.numpy()
        wanted = dtype_of(dtype)
        if self.scale == 1.0 and self.offset == 0.0 and found.dtype == wanted:
            return found
        scaled: Array = found.astype(np.float32) * np.float32(self.scale) + np.float32(self.offset)
        if wanted.kind in "iu":
            limits = np.iinfo(wanted)
            scaled = np.clip(np.rint(scaled), limits.min, limits.max)
        result: Array = scaled.astype(wanted)
        return result
