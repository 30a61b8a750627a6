"""DEV1: tensors and modules made on the wrong device."""
