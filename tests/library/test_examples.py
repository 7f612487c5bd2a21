"""Everything that `import lab2048` offers has an example, which runs as a doctest."""

import inspect
from collections.abc import Iterator
from typing import Any

import lab2048 as lab


def offered() -> Iterator[tuple[str, Any]]:
    """The functions, the classes and the methods that a class defines itself."""
    for name in lab.__all__:
        thing = getattr(lab, name)
        yield name, thing
        methods = vars(thing).items() if inspect.isclass(thing) else ()
        for method, defined in methods:
            is_method = inspect.isfunction(getattr(defined, "__func__", defined))
            if is_method and not method.startswith("_"):
                yield f"{name}.{method}", defined


def test_every_function_class_and_method_has_an_example() -> None:
    assert not [name for name, thing in offered() if ">>>" not in (thing.__doc__ or "")]
