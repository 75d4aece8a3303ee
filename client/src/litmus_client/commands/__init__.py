"""The commands of `litmus`, one module each."""
