import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type ServiceProcess, startService } from "../../service.ts";
import { bareEnv, noChromium, shoalProcess } from "../../testing/shoal.ts";
import { noScript, onTerminal } from "../../testing/terminal.ts";

const missing = await noChromium();
const folder = mkdtempSync(join(tmpdir(), "shoal-serve-"));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const serve = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  shoalProcess(
    ["serve", "--port", "0", "--data-dir", join(folder, "unused"), "--warm", "0", "--log-level", "silent", ...args],
    { env },
  );
const file = (name: string, content: string) => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

describe("invalid settings", () => {
  it.each<[string, string[], string]>([
    ["a flag that is nearly one", ["--prot", "1"], "--prot is not a setting. Did you mean --port?"],
    ["a flag that resembles none", ["--frobnicate"], "--frobnicate is not a setting."],
    ["a flag without its value", ["--host"], "--host needs a value."],
    ["a word", ["now"], 'Unknown argument "now" of shoal serve.'],
    [
      "a value of the wrong kind",
      ["--warm", "many"],
      '--warm is "many", but must be auto, or a whole number from 0 to 100.',
    ],
    ["a config file that is not there", ["--config", join(folder, "none.yaml")], "none.yaml cannot be read"],
    ["an invalid config file", ["--config", file("broken.yaml", "port: [")], "broken.yaml is neither YAML nor JSON"],
    [
      "a setting of the config file",
      ["--config", file("wrong.yaml", "prot: 1")],
      "wrong.yaml is not a setting. Did you mean port?",
    ],
    [
      "a database other than PostgreSQL",
      ["--database-url", "mysql://u:hunter2@db/x"],
      "--database-url is mysql://***@db/x, but must be a postgres:// address.",
    ],
  ])("reports %s in one line with a hint and exits with 2", async (_what, args, message) => {
    const { status, stdout, stderr } = await serve(args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(/^error: [^\n]+\n {2}[^\n]+\n$/);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("hunter2");
  });
});

describe("a failing start", () => {
  const failure = async (args: readonly string[]) => {
    const { status, stdout, stderr } = await serve(args);
    expect({ status, stdout }, stderr).toEqual({ status: 12, stdout: "" });
    expect(stderr).toMatch(/^error: [^\n]+\n {2}[^\n]+\n$/);
    return stderr;
  };

  it("names a data folder that is not writable", async () => {
    expect(await failure(["--data-dir", join(file("plain", ""), "below")])).toContain("--data-dir");
    // Even root cannot write to /proc.
    if (process.platform === "linux")
      expect(await failure(["--data-dir", "/proc/shoal"])).toContain("The data folder /proc/shoal cannot be used");
    if (process.getuid?.() !== 0 && process.platform !== "win32") {
      mkdirSync(join(folder, "locked"));
      chmodSync(join(folder, "locked"), 0o500);
      expect(await failure(["--data-dir", join(folder, "locked", "data")])).toContain("Make it writable");
    }
  });

  it("names a missing Chromium", async () => {
    expect(await failure(["--data-dir", join(folder, "no-chromium"), "--chromium", "/nope"])).toMatch(
      /\/nope is not a program.*\n.*--chromium/,
    );
  });

  it("names an unreachable database without its password", async () => {
    const stderr = await failure([
      "--data-dir",
      join(folder, "no-database"),
      "--database-url",
      "postgres://u:hunter2@127.0.0.1:1/x",
    ]);
    expect(stderr).toContain("127.0.0.1:1/x cannot be reached");
    expect(stderr).not.toContain("hunter2");
  });
});

it("explains how to install the service if it is missing", async () => {
  const alone = mkdtempSync(join(tmpdir(), "shoal-alone-"));
  try {
    // The published files in a folder where @shoal/server cannot be resolved.
    for (const path of ["dist", "package.json"])
      cpSync(new URL(`../../../${path}`, import.meta.url), join(alone, path), { recursive: true });
    const { status, stderr } = spawnSync(process.execPath, [join(alone, "dist", "shoal.js"), "serve"], {
      encoding: "utf8",
      env: bareEnv(),
    });
    expect({ status, stderr }).toEqual({
      status: 12,
      stderr:
        "error: The package of the service is not installed.\n  Install it with: npm install --global @shoal/server\n",
    });
  } finally {
    rmSync(alone, { recursive: true });
  }
});

it("prints help without starting the service", async () => {
  const { status, stdout } = await shoalProcess(["serve", "--help"]);
  expect(status).toBe(0);
  expect(stdout).toContain(
    "  --port <number>\n      Port to listen on, 0 to 65535; 0 takes a free one.\n      Default: 7777. Also SHOAL_PORT.\n",
  );
  expect(stdout.split("\n").every((line) => line.length <= 100)).toBe(true);
});

describe.skipIf(missing)(`a service that runs${missing === undefined ? "" : ` (skipped: ${missing})`}`, () => {
  const dataDir = join(folder, "it runs");
  const flags = ["--warm", "0", "--placement", "process", "--max-event-loop-delay-ms", "0"];
  beforeAll(async () => {
    // The first start creates the database, which takes longer.
    const service = await startService(dataDir, flags, bareEnv());
    await service.stop();
    expect(service.output()).toContain(
      `The admin key is stored in ${join(dataDir, "admin-key.json")}. Commands on this machine read it from there with SHOAL_DATA_DIR='${dataDir}'.\n`,
    );
    // The output may be a log.
    expect(service.output()).not.toContain(service.apiKey);
  });

  const withoutScript = noScript();
  it.skipIf(withoutScript)(
    `shows the key of its first start to a person${withoutScript === undefined ? "" : ` (skipped: ${withoutScript})`}`,
    async () => {
      const own = join(folder, "first");
      const run = onTerminal(["serve", ...flags, "--port", "0", "--data-dir", own], { columns: 200 });
      await expect.poll(() => run.screen()).toMatch(/Admin key \(shown once\): \S*sk_shoal_/);
      await expect.poll(() => run.screen()).toContain("Ctrl-C stops the service.");
      // The address, the key, and the next step: only warnings are added, such as that of the process placement.
      const lines = run.screen().trimEnd().split("\n");
      const unexpected = lines.filter(
        (line) => !/answers at|Admin key|CDP clients connect|Try in another terminal|isolat|WARN/.test(line),
      );
      expect(unexpected).toEqual([]);
      const env = {
        SHOAL_DATA_DIR: own,
        SHOAL_BASE_URL: /answers at \S*(http:\/\/[\d.:]+)/.exec(run.screen())?.[1] ?? "",
      };
      expect((await shoalProcess(["browsers", "create"], { env })).status).toBe(0);
      run.type("\u0003");
      expect(await run.status).toBe(0);
      expect(run.screen()).toContain(
        "Stopping: finishing requests and ending 1 session. Press Ctrl-C again to stop at once.",
      );
    },
  );

  const running: ServiceProcess[] = [];
  const begin = async () => {
    const service = await startService(dataDir, flags, bareEnv());
    running.push(service);
    return service;
  };
  afterEach(async () => {
    await Promise.all(running.splice(0).map((service) => service.stop()));
  });

  it("writes a private ready file and removes it on exit", async () => {
    const service = await begin();
    const path = join(dataDir, "ready.json");
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
      base_url: service.baseUrl,
      api_key: service.apiKey,
      pid: service.pid,
    });
    if (process.platform !== "win32") expect(statSync(path).mode & 0o777).toBe(0o600);
    await expect.poll(() => service.output()).toContain(`answers at ${service.baseUrl}`);
    expect(await service.stop()).toBe(0);
    expect(existsSync(path)).toBe(false);
  });

  it.skipIf(process.platform !== "linux")(
    "has more threads than Node's four, which slow names would take",
    async () => {
      const { pid } = await begin();
      const names = readdirSync(`/proc/${String(pid)}/task`).map((thread) =>
        readFileSync(`/proc/${String(pid)}/task/${thread}/comm`, "utf8").trim(),
      );
      expect(names.filter((name) => name === "libuv-worker")).toHaveLength(32);
    },
  );

  it.skipIf(process.platform === "win32").each(["SIGTERM", "SIGINT"] as const)("exits with 0 on %s", async (signal) => {
    const service = await begin();
    expect(await service.stop(signal)).toBe(0);
  });
});
