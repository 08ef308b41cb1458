"""The memory of an OpenCL device."""
