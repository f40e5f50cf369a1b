"""From a question to a checked answer. Importing this package loads nothing heavy."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("cloud-training-advisor")
except PackageNotFoundError:  # run from a source tree that isn't installed
    __version__ = "0+source"
