"""Prints the operations of the installed SDK `kernel`, with the fields of their requests, as JSON.

    pip install kernel==VERSION && python list_operations.py > operations.json
"""

import ast
import collections.abc
import importlib
import json
import pathlib
import types
import typing
from importlib.metadata import version

import kernel
from typing_extensions import get_type_hints, is_typeddict

root = pathlib.Path(kernel.__file__).parent
methods = {"_get": "GET", "_post": "POST", "_patch": "PATCH", "_put": "PUT", "_delete": "DELETE", "_get_api_list": "GET"}
deepest = 4


def shapes(hint, seen):
    """The fields below a type: names of objects inside lists have the list's name."""
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType, typing.Annotated, list, collections.abc.Iterable) or str(
        origin
    ).endswith(("Required", "SequenceNotStr")):
        for inside in typing.get_args(hint):
            yield from shapes(inside, seen)
    elif is_typeddict(hint) and hint not in seen and len(seen) < deepest:
        for name, field in get_type_hints(hint, include_extras=True).items():
            alias = next((part.alias for part in getattr(field, "__metadata__", ()) if getattr(part, "alias", None)), name)
            yield alias
            for below in shapes(field, (*seen, hint)):
                yield f"{alias}.{below}"


def path_of(node):
    text = node if isinstance(node, ast.Constant) else node.args[0]
    return text.value


def params_of(call, module):
    for node in ast.walk(call):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id.endswith("_params"):
            yield getattr(getattr(module, node.value.id), node.attr)


found = {}
for file in sorted((root / "resources").rglob("*.py")):
    module = importlib.import_module(".".join(["kernel", *file.relative_to(root).with_suffix("").parts]))
    for call in ast.walk(ast.parse(file.read_text())):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or not call.args:
            continue
        method = methods.get(call.func.attr)
        if method is None:
            continue
        fields = found.setdefault(f"{method} {path_of(call.args[0])}", set())
        for params in params_of(call, module):
            fields.update(shapes(params, ()))
operations = {name: sorted(found[name]) for name in sorted(found, key=lambda each: each.split(" ")[::-1])}
print(json.dumps({"client": f"kernel {version('kernel')}", "operations": operations}, indent=2))
