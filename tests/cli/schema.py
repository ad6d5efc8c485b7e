# SPDX-License-Identifier: Apache-2.0
"""A validator of JSON Schema for the keywords that our schemas use; any other keyword is a fault."""

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
SAYS_NOTHING = {"$schema", "$defs", "title", "description"}


def is_type(name, value):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


class Validator:
    def __init__(self, root):
        self.root = root

    def faults(self, value, schema=None, at="$"):
        """Yields each fault as "place: message"."""
        schema = self.root if schema is None else schema
        for keyword, expected in schema.items():
            if keyword in SAYS_NOTHING:
                continue
            check = getattr(self, "check_" + keyword.lstrip("$"), None)
            if check is None:
                yield f"{at}: the schema requires {keyword}"
            else:
                yield from check(expected, value, schema, at)

    def check_ref(self, expected, value, _schema, at):
        name = expected.removeprefix("#/$defs/")
        yield from self.faults(value, self.root["$defs"][name], at)

    def check_type(self, expected, value, _schema, at):
        names = expected if isinstance(expected, list) else [expected]
        if not any(is_type(name, value) for name in names):
            yield f"{at}: expected {' or '.join(names)}, got {value!r:.40}"

    def check_const(self, expected, value, _schema, at):
        if value != expected:
            yield f"{at}: expected {expected!r}, got {value!r:.40}"

    def check_enum(self, expected, value, _schema, at):
        if value not in expected:
            yield f"{at}: expected one of {expected}, got {value!r:.40}"

    def check_anyOf(self, expected, value, _schema, at):  # noqa: N802, the keyword's own name
        if all(any(self.faults(value, one, at)) for one in expected):
            yield f"{at}: none of the alternatives fits {value!r:.40}"

    def check_required(self, expected, value, _schema, at):
        if isinstance(value, dict):
            yield from (f"{at}: no {key}" for key in expected if key not in value)

    def check_properties(self, expected, value, _schema, at):
        if isinstance(value, dict):
            for key in expected.keys() & value.keys():
                yield from self.faults(value[key], expected[key], f"{at}.{key}")

    def check_additionalProperties(self, expected, value, schema, at):  # noqa: N802
        if isinstance(value, dict):
            for key in value.keys() - schema.get("properties", {}).keys():
                if expected is False:
                    yield f"{at}: {key} is too many"
                else:
                    yield from self.faults(value[key], expected, f"{at}.{key}")

    def check_items(self, expected, value, _schema, at):
        if isinstance(value, list):
            for i, element in enumerate(value):
                yield from self.faults(element, expected, f"{at}[{i}]")

    def check_length(self, fits, value, at):
        if isinstance(value, (list, dict)) and not fits(len(value)):
            yield f"{at}: {len(value)} of them"

    def check_minItems(self, expected, value, _schema, at):  # noqa: N802
        yield from self.check_length(lambda n: n >= expected, value, at)

    def check_maxItems(self, expected, value, _schema, at):  # noqa: N802
        yield from self.check_length(lambda n: n <= expected, value, at)

    check_minProperties, check_maxProperties = check_minItems, check_maxItems

    def check_minimum(self, expected, value, _schema, at):
        if is_type("number", value) and value < expected:
            yield f"{at}: expected {expected} or more, got {value}"
