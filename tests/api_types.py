"""The API's types for the type checker of the page's JavaScript: types/api.d.ts.

script/goldens writes the file from the OpenAPI schema, and a test fails if it is out of date.
Descriptions are left out, so that the file changes only when the API does.
"""

import json
from pathlib import Path
from typing import Any

from lab2048.views.web.app import Api
from lab2048.views.web.state import Lab

PATH = Path(__file__).parent.parent / "types" / "api.d.ts"
HEAD = "// Generated from the OpenAPI schema: run script/goldens after a change of the API.\n"
PRIMITIVES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}

Schema = dict[str, Any]


class SchemaOnlyLab(Lab):
    """Stands in for the state of a server: the routes can be described without one."""

    def __init__(self) -> None:
        """Open nothing."""


def openapi_schema() -> Schema:
    api = Api(SchemaOnlyLab())
    api.load_all()
    return api.app.openapi()


def write_types(schema: Schema) -> str:
    """Return the TypeScript declarations: one interface per model, and `Routes` by method and path."""
    models: dict[str, Schema] = schema["components"]["schemas"]
    sent = _models_sent(schema, models)
    lines = [HEAD, "declare namespace Api {"]
    for name, model in models.items():
        if "enum" in model:
            lines += [f"  type {name} = {_type(model)};", ""]
            continue
        lines += [f"  interface {name} {{", *_fields(model, has_defaults=name in sent), "  }", ""]
    lines.append("  interface Routes {")
    for method in ("get", "post", "put", "delete"):
        lines.append(f"    {method.upper()}: {{")
        for path, operations in schema["paths"].items():
            if method in operations:
                lines += [f'      "{path}": {{', *_operation(operations[method]), "      };"]
        lines.append("    };")
    return "\n".join([*lines, "  }", "}", ""])


def _fields(model: Schema, *, has_defaults: bool) -> list[str]:
    """A field with a default may be left out of a request; an answer always has it."""
    required = model.get("required", [])
    return [
        f"    {name}{'?' if has_defaults and name not in required else ''}: {_type(field)};"
        for name, field in model["properties"].items()
    ]


def _operation(operation: Schema) -> list[str]:
    lines = []
    for place in ("path", "query"):
        parameters = [each for each in operation.get("parameters", []) if each["in"] == place]
        fields = "; ".join(
            f"{each['name']}{'' if each['required'] else '?'}: {_type(each['schema'])}" for each in parameters
        )
        if fields:
            optional = "" if any(each["required"] for each in parameters) else "?"
            lines.append(f"        {place}{optional}: {{ {fields} }};")
    if "requestBody" in operation:
        lines.append(f"        body: {_content(operation['requestBody'])};")
    lines.append(f"        answer: {_content(operation['responses']['200'])};")
    return lines


def _content(message: Schema) -> str:
    """The type of a body: only JSON is parsed, everything else is text."""
    kinds = message.get("content", {})
    return _type(kinds["application/json"]["schema"]) if "application/json" in kinds else "string"


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if "const" in schema:
        return json.dumps(schema["const"])
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_type(each) for each in schema["anyOf"]))
    if "prefixItems" in schema:
        return f"[{', '.join(_type(each) for each in schema['prefixItems'])}]"
    match schema.get("type"):
        case "array":
            return f"Array<{_type(schema['items'])}>"
        case "object":
            values = schema.get("additionalProperties", True)
            return f"Record<string, {_type(values) if isinstance(values, dict) else 'unknown'}>"
        case None:
            return "unknown"
        case kind:
            return PRIMITIVES[kind]


def _models_sent(schema: Schema, models: dict[str, Schema]) -> set[str]:
    """The names of the models that a request can contain."""
    found: set[str] = set()
    waiting = _references(
        [
            operation["requestBody"]
            for operations in schema["paths"].values()
            for operation in operations.values()
            if "requestBody" in operation
        ]
    )
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting |= _references(models[name])
    return found


def _references(part: object) -> set[str]:
    if isinstance(part, dict):
        own = {str(part["$ref"]).rsplit("/", 1)[-1]} if "$ref" in part else set()
        return own.union(*(_references(each) for each in part.values()))
    if isinstance(part, list):
        return set().union(*(_references(each) for each in part))
    return set()


def write_file() -> None:
    PATH.write_text(write_types(openapi_schema()))


if __name__ == "__main__":
    write_file()
