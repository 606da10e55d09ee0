"""Imports a deployed app and executes one invocation. Usage: runner.py CHANNEL ENTRY FOLDER..."""

import asyncio
import importlib.util
import inspect
import json
import os
import socket
import struct
import sys
import traceback

MESSAGE, VALUE = 1, 2
MAX_VALUE_BYTES = 4_718_592
MAX_REASON = 2_000


class Channel:
    def __init__(self, descriptor):
        self._socket = socket.socket(fileno=descriptor)
        # The programs that the app starts do not inherit it.
        os.set_inheritable(descriptor, False)

    def _read(self, count):
        parts = []
        while count > 0:
            part = self._socket.recv(min(count, 1 << 20))
            if not part:
                os._exit(1)
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def receive(self):
        length, kind = struct.unpack(">IB", self._read(5))
        return self._read(length)

    def send(self, message):
        self._write(MESSAGE, json.dumps(message).encode())

    def send_value(self, text):
        self._write(VALUE, text.encode())

    def _write(self, kind, content):
        self._socket.sendall(struct.pack(">IB", len(content), kind) + content)


def load(entry):
    spec = importlib.util.spec_from_file_location("shoal_app", entry)
    if spec is None or spec.loader is None:
        raise ImportError(f"{entry} is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules["shoal_app"] = module
    spec.loader.exec_module(module)


def apps():
    framework = sys.modules.get("kernel.app_framework") or sys.modules.get("kernel")
    registry = getattr(framework, "app_registry", None) or getattr(sys.modules.get("kernel"), "app_registry", None)
    return {} if registry is None else {app.name: app for app in registry.get_apps()}


def describe():
    return [
        {
            "name": app.name,
            "actions": [
                {"name": action.name, "input_schema": None, "output_schema": None} for action in app.get_actions()
            ],
        }
        for app in apps().values()
    ]


def run(call, payload):
    app = apps().get(call["app_name"])
    if app is None:
        raise LookupError(f"Unknown app {call['app_name']} in this program.")
    action = next((each for each in app.get_actions() if each.name == call["action_name"]), None)
    if action is None:
        raise LookupError(f"The app {app.name} has no action {call['action_name']}.")
    from kernel import KernelContext

    context = KernelContext(invocation_id=call["invocation_id"])
    takes_payload = len(inspect.signature(action.handler).parameters) > 1
    result = action.handler(context, payload) if takes_payload else action.handler(context)
    if inspect.isawaitable(result):

        async def wait():
            return await result

        result = asyncio.run(wait())
    # Clients cannot parse NaN and Infinity.
    return json.dumps(result, allow_nan=False)


def cut(text):
    return text if len(text) <= MAX_REASON else text[:MAX_REASON] + "…"


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            pass


def finish(channel, call, payload):
    try:
        output = run(call, payload)
        size = len(output.encode())
        if size > MAX_VALUE_BYTES:
            raise ValueError(
                f"The output has {size} bytes; the limit is {MAX_VALUE_BYTES}. "
                "Store large results elsewhere and return their address."
            )
        message = {"type": "result", "status": "succeeded", "has_output": True}
    except BaseException as error:
        traceback.print_exc()
        text = str(error) or type(error).__name__
        output = json.dumps({"error": text})
        message = {"type": "result", "status": "failed", "status_reason": cut(text), "has_output": True}
    flush()
    channel.send_value(output)
    channel.send(message)


def main():
    channel = Channel(int(sys.argv[1]))
    entry, folders = sys.argv[2], sys.argv[3:]
    sys.argv = [sys.argv[0]]
    sys.path[0:1] = [os.path.dirname(entry), *folders]
    try:
        load(entry)
        channel.send({"type": "ready", "apps": describe()})
    except BaseException as error:
        traceback.print_exc()
        flush()
        channel.send({"type": "failed", "reason": cut(str(error) or type(error).__name__)})
        os._exit(1)
    call = json.loads(channel.receive())
    payload = json.loads(channel.receive()) if call["has_payload"] else None
    os.environ["KERNEL_INVOCATION"] = call["invocation_id"]
    finish(channel, call, payload)
    flush()
    # Threads of the app do not delay the end.
    os._exit(0)


main()
