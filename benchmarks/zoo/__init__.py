"""The models of benchmarks/models.py, a file for each kind of them; ROWS has all."""
