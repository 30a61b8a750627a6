"""PyTorch's own CUDA build run without a GPU: CUDA's libraries replaced by ones whose kernels do nothing.

All of PyTorch's host code runs as it is - the dispatcher, the generated device checks, TensorIterator, the asserts of
the kernel launchers, the checks written by hand - so which operands may meet is answered by PyTorch itself. Nothing is
computed: what hangs on values that a kernel would have written, or on an error that only the GPU raises, is not.
"""
