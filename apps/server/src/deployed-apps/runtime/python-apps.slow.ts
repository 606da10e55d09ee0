import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { BuildError } from "./app-runtime.ts";
import { openRuntime, runnable, sourceOf } from "./testing/runtime.ts";

const signal = new AbortController().signal;

/** Those parts of the vendor's package that a runner uses. */
const kernel = `
import functools
from dataclasses import dataclass

@dataclass
class KernelContext:
    invocation_id: str

@dataclass
class KernelAction:
    name: str
    handler: object

class KernelAppRegistry:
    def __init__(self): self.apps = {}
    def get_apps(self): return list(self.apps.values())

app_registry = KernelAppRegistry()

class App:
    def __init__(self, name):
        self.name, self.actions = name, {}
        app_registry.apps[name] = self
    def get_actions(self): return list(self.actions.values())
    def action(self, name):
        def wrap(handler):
            @functools.wraps(handler)
            def checked(context, *rest):
                assert isinstance(context, KernelContext)
                return handler(context, *rest)
            self.actions[name] = KernelAction(name, checked)
            return checked
        return wrap
`;

const main = `
import os, sys
import kernel
from loop import answer

app = kernel.App("py-basic")

@app.action("whoami")
async def whoami(ctx: kernel.KernelContext, payload):
    print("printed", flush=True)
    return {"id": ctx.invocation_id, "payload": payload, "answer": answer, "cwd": os.getcwd(), "main": __name__ != "__main__"}

@app.action("context-only")
def context_only(ctx):
    return None

@app.action("not-a-number")
def not_a_number(ctx):
    return {"price": float("nan")}

@app.action("throws")
def throws(ctx):
    raise ValueError("sold out")
`;

function addWheel(folder: string): void {
  mkdirSync(join(folder, "wheels"));
  const script = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1] + "/wheels/kernel-0.23.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("kernel/__init__.py", sys.stdin.read())
    info = "kernel-0.23.0.dist-info/"
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: kernel\\nVersion: 0.23.0\\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(info + "RECORD", "")
`;
  execFileSync("/usr/bin/python3", ["-c", script, folder], { input: kernel });
}

it("runs actions of a Python app with wheels from its sources", async () => {
  const { runtime, on, lines } = await openRuntime();
  const source = await sourceOf(
    {
      "pyproject.toml": '[project]\nname = "x"\nversion = "1"\ndependencies = ["kernel>=0.23"]\n',
      "main.py": main,
      "loop.py": "answer = 42\n",
    },
    "main.py",
  );
  addWheel(source.folder);
  const built = await runtime.build(source, on, signal).catch((error: unknown) => {
    throw new Error(lines.map(({ text }) => text).join("\n"), { cause: error });
  });
  expect(built).toMatchObject({ language: "python", apps: [{ name: "py-basic" }] });
  const invoke = async (action_name: string, payload?: string) => {
    const program = await runtime.start(runnable(source, built), on, signal);
    return program.invoke({
      invocation_id: "i1",
      app_name: "py-basic",
      action_name,
      ...(payload !== undefined && { payload }),
    });
  };
  const result = await invoke("whoami", '{"name":"Ada"}');
  expect(JSON.parse(result.output ?? "")).toEqual({
    id: "i1",
    payload: { name: "Ada" },
    answer: 42,
    cwd: "/boot",
    main: true,
  });
  expect(lines.some(({ source: from, text }) => from === "stdout" && text === "printed")).toBe(true);
  expect(await invoke("context-only", '{"dropped":true}')).toEqual({ status: "succeeded", output: "null" });
  expect(await invoke("not-a-number")).toMatchObject({
    status: "failed",
    status_reason: expect.stringContaining("Out of range float values") as string,
  });
  expect(await invoke("throws")).toEqual({
    status: "failed",
    output: '{"error": "sold out"}',
    status_reason: "sold out",
  });
});

it("fails within a minute with the reason when no package index can be reached", async () => {
  const { runtime, on } = await openRuntime({
    registry: { url: "http://localhost:9", pythonIndex: "http://localhost:9/simple", allowedHosts: [] },
  });
  const source = await sourceOf({ "requirements.txt": "kernel\n", "main.py": main }, "main.py");
  const error: unknown = await runtime.build(source, on, signal).catch((reason: unknown) => reason);
  expect(BuildError.isInstance(error) && error.message).toMatch(
    /^The Python package index http:\/\/localhost:9\/simple\/ cannot be reached: .*folder wheels/,
  );
});
