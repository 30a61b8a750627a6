"""Programs that use PyTorch, written at random: statements, functions, classes and files, each used somewhere."""
