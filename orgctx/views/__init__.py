"""One module for each question an agent asks."""
