"""Compiled code: numbers and arrays in, numbers and arrays out.

The only package that uses Numba.  Nothing here raises, prints or owns state, and `import lab2048`
does not import it.
"""
