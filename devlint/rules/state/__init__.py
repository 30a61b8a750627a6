"""DEV5: tensors and modules that do not move with the object that holds them."""
