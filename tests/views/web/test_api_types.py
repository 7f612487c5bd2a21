"""types/api.d.ts is the OpenAPI schema as the page's type checker reads it."""

from api_types import PATH, openapi_schema, write_types


def test_the_types_of_the_api_are_up_to_date():
    assert PATH.read_text() == write_types(openapi_schema()), "the API has changed: run script/goldens"


def test_a_field_with_a_default_is_optional_in_requests_and_present_in_answers():
    model = {"properties": {"n": {"type": "integer", "default": 1}}}
    post = {
        "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Sent"}}}},
        "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Got"}}}}},
    }
    text = write_types({"components": {"schemas": {"Sent": model, "Got": model}}, "paths": {"/x": {"post": post}}})
    assert "interface Sent {\n    n?: number;" in text
    assert "interface Got {\n    n: number;" in text
    assert '"/x": {\n        body: Sent;\n        answer: Got;' in text
