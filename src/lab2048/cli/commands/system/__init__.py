"""Commands about lab2048 itself: settings, diagnosis, preparation, benchmarks, completion."""
