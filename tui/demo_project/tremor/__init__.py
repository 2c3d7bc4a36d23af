"""Seismic window classification with a learned moving average."""

from tremor.data import CLASSES, SyntheticTremors
from tremor.model import TremorNet

__all__ = ["CLASSES", "SyntheticTremors", "TremorNet"]
