import { eventually } from "@shoal/testkit";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { writeApp } from "../testing/app-files.ts";

const command = join(import.meta.dirname, "../../../cli/dist/shoal.js");
const hasPython = spawnSync("python3", ["--version"]).status === 0;

/** Those parts of the vendor's package that a runner uses. */
const kernel = `
from dataclasses import dataclass

@dataclass
class KernelContext:
    invocation_id: str

@dataclass
class KernelAction:
    name: str
    handler: object

class Registry:
    def __init__(self): self.apps = {}
    def get_apps(self): return list(self.apps.values())

app_registry = Registry()

class App:
    def __init__(self, name):
        self.name, self.actions = name, {}
        app_registry.apps[name] = self
    def get_actions(self): return list(self.actions.values())
    def action(self, name):
        def wrap(handler):
            self.actions[name] = KernelAction(name, handler)
            return handler
        return wrap
`;
const source = `
import os
import kernel
from greeting import greeting

app = kernel.App("py-shop")

@app.action("greet")
async def greet(context: kernel.KernelContext, payload):
    print("greeting")
    return {"text": f"{greeting}, {payload['name']}{os.environ['MARK']}"}

@app.action("fail")
def fail(context):
    raise ValueError("sold out")
`;

describe.skipIf(!hasPython && process.env.SHOAL_REQUIRE_ALL !== "1")(
  `shoal dev of a Python app${hasPython ? "" : " (skipped, no python3)"}`,
  () => {
    const folder = mkdtempSync(join(tmpdir(), "shoal-dev-python-"));
    const env = {
      HOME: folder,
      PATH: process.env.PATH,
      SHOAL_CONFIG_DIR: join(folder, ".config"),
      SHOAL_KEYCHAIN: "0",
      SHOAL_API_KEY: "sk_unused",
      // These actions do not call the service.
      SHOAL_BASE_URL: "http://127.0.0.1:9",
      NO_COLOR: "1",
      PYTHONDONTWRITEBYTECODE: "1",
    };
    beforeAll(() => {
      writeApp(folder, {
        "main.py": source,
        "greeting.py": 'greeting = "Hello"\n',
        "kernel.py": kernel,
        "pyproject.toml": '[project]\nname = "py-shop"\nversion = "1"\n',
      });
    });
    afterAll(() => {
      rmSync(folder, { recursive: true, force: true });
    });

    const started = new Set<ChildProcess>();
    afterEach(() => {
      for (const child of started) child.kill("SIGTERM");
      started.clear();
    });

    function start(args: readonly string[], more: NodeJS.ProcessEnv = {}) {
      const child = spawn(process.execPath, [command, "dev", "main.py", ...args], {
        cwd: folder,
        env: { ...env, ...more },
      });
      started.add(child);
      let [stdout, stderr] = ["", ""];
      child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
      child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
      const ended = once(child, "close").then(() => ({ status: child.exitCode, stdout, stderr }));
      return { child, ended, stdout: () => stdout, stderr: () => stderr };
    }

    it("runs one action, and reports the reason of a failure", async () => {
      const run = start(["--invoke", "greet", "-p", '{"name":"Ada"}', "--env", "MARK=!", "-o", "json"]);
      const { status, stdout, stderr } = await run.ended;
      expect({ status, output: (JSON.parse(stdout) as { output: string }).output }).toEqual({
        status: 0,
        output: '{"text": "Hello, Ada!"}',
      });
      expect(stderr).toMatch(/stdout greeting\n/);
      const failed = await start(["--invoke", "fail", "--env", "MARK=!"]).ended;
      expect([failed.status, failed.stderr]).toEqual([
        1,
        expect.stringContaining("error: Action fail failed: sold out\n"),
      ]);
    });

    it("imports the app again after a change of one of its files", async () => {
      const run = start(["--env", "MARK=!"]);
      await eventually("the first import", () => run.stderr().includes("Ready."));
      writeFileSync(join(folder, "greeting.py"), 'greeting = "Salut"\n');
      await eventually("the reload", () => run.stderr().includes("Reloaded."));
      run.child.stdin.write('greet {"name":"Bob"}\n');
      await eventually("the result", () => run.stdout().includes("Salut, Bob!"));
      run.child.stdin.end();
      expect((await run.ended).status).toBe(0);
    });

    it("says that Python is missing", async () => {
      const { status, stderr } = await start(["--invoke", "greet"], { PATH: folder }).ended;
      expect([status, stderr]).toEqual([1, expect.stringContaining("Install Python 3.11 or newer.")]);
    });
  },
);
