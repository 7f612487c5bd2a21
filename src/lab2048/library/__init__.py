"""The functions and classes of `import lab2048`; the command line is a thin layer over them."""
