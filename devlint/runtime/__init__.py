"""The runtime half: runs programs on real or simulated accelerators and records what happens to their tensors.

The only room of devlint that imports torch; nothing of it is imported before a command needs it.
"""
