"""Files in: which files there are, what their bytes say, and what their comments ask of devlint."""
