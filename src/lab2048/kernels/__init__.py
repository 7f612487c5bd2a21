"""Compiled code: numbers and arrays in, numbers and arrays out.

The only home of Numba.  Nothing here raises, prints, or owns state; nothing here
is imported by `import lab2048`.
"""
