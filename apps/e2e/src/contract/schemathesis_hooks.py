"""Hooks of Schemathesis: requests reach existing objects, end soon, have only known fields, and leave a line each in a file."""

import json
import os

import schemathesis

KNOWN = json.loads(os.environ["SHOAL_FUZZ_KNOWN"])
ANSWERS = os.environ["SHOAL_FUZZ_ANSWERS"]
# Fields that only make a run slow, and their highest values here.
PAUSES = {"delay": 20, "delay_ms": 20, "duration": 60, "duration_ms": 60, "step_delay_ms": 20, "timeout_ms": 1000}
PAUSES |= {"timeout_sec": 2, "timeout_seconds": 10, "async_timeout_seconds": 10, "acquire_timeout_seconds": 1}


def shortened(value, name=""):
    if isinstance(value, dict):
        return {key: shortened(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [shortened(inner, name) for inner in value[:20]]
    if name in PAUSES and type(value) in (int, float):
        return min(value, PAUSES[name])
    if name == "text" and isinstance(value, str):
        return value[:40]
    return value


def close(node, root, seen):
    """Forbids unknown fields. Services ignore them, and refuse those that could restrict something."""
    if isinstance(node, list):
        for inner in node:
            close(inner, root, seen)
    elif isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            name = node["$ref"].rsplit("/", 1)[1]
            if name not in seen:
                seen.add(name)
                close(root["components"]["schemas"][name], root, seen)
        if node.get("type") == "object" and "properties" in node:
            node.setdefault("additionalProperties", False)
        for key, inner in node.items():
            if key not in ("if", "then", "else", "not", "allOf", "examples"):
                close(inner, root, seen)


@schemathesis.hook
def before_load_schema(context, raw_schema):
    for item in raw_schema["paths"].values():
        for operation in item.values():
            if isinstance(operation, dict):
                for content in operation.get("requestBody", {}).get("content", {}).values():
                    close(content["schema"], raw_schema, set())


def is_valid(case):
    return case.meta is not None and case.meta.generation.mode.is_positive


@schemathesis.hook
def before_call(context, case, kwargs):
    if not is_valid(case):
        return
    name = case.operation.definition.raw["operationId"]
    known = KNOWN.get(case.operation.path.split("/")[1])
    if known is not None and case.operation.method.lower() != "delete":
        for parameter in ("id", "id_or_name"):
            if parameter in case.path_parameters:
                case.path_parameters[parameter] = known
    if name == "browsers.render" and isinstance(case.body, dict):
        case.body.setdefault("timeout_ms", 1000)  # It waits for the only place of the service, 30 s by default.
    case.body = shortened(case.body)


@schemathesis.hook
def after_call(context, case, response):
    record = {"operation": case.operation.definition.raw["operationId"], "status": response.status_code}
    if response.status_code == 500 or (response.status_code == 400 and is_valid(case)):
        record |= {"text": response.text[:1500], "query": repr(case.query)[:400], "body": repr(case.body)[:800]}
    with open(ANSWERS, "a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")
