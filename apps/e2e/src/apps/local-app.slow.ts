import { Shoal } from "@shoal/client";
import { eventually } from "@shoal/testkit";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { vendored, writeApp } from "../testing/app-files.ts";
import { missingFor } from "../testing/components.ts";
import { descendantsOf, survivors } from "../testing/processes.ts";
import { useService } from "../testing/service.ts";

const command = join(import.meta.dirname, "../../../cli/dist/shoal.js");

const source = `
import { Shoal } from "@shoal/client";
import { app } from "@shoal/client/app";
import { greeting } from "./lib/greeting";

const shop = app("shop");
shop.action("greet", (_context, payload) => ({ text: greeting + ", " + payload.name + process.env.MARK, file: import.meta.dirname }));
shop.action("fail", async ({ invocation_id }) => {
  await new Shoal().browsers.create({ invocation_id, timeout_seconds: 3600 });
  console.error("about to fail");
  throw new Error("sold out");
});
shop.action("keep-browser", async ({ invocation_id }) => {
  const { session_id } = await new Shoal().browsers.create({ invocation_id, timeout_seconds: 3600 });
  console.log("opened");
  return session_id;
});
shop.action("wait", async ({ invocation_id }) => {
  await new Shoal().browsers.create({ invocation_id, timeout_seconds: 3600 });
  console.log("waiting for ever");
  setInterval(() => undefined, 1000);
  await new Promise(() => undefined);
});
`;

const missing = missingFor("process");

describe.skipIf(missing !== undefined)("shoal dev", () => {
  const test = useService(() => ["--placement", "process", "--warm", "1"]);
  const folder = mkdtempSync(join(tmpdir(), "shoal-dev-test-"));
  let shoal: Shoal;
  let env: NodeJS.ProcessEnv;
  beforeAll(async () => {
    shoal = new Shoal({ apiKey: test.service.apiKey, baseUrl: test.service.baseUrl });
    env = {
      HOME: folder,
      PATH: process.env.PATH,
      SHOAL_CONFIG_DIR: join(folder, ".config"),
      SHOAL_KEYCHAIN: "0",
      SHOAL_API_KEY: test.service.apiKey,
      SHOAL_BASE_URL: test.service.baseUrl,
      NO_COLOR: "1",
    };
    writeApp(folder, {
      "package.json": JSON.stringify({ name: "shop", private: true, type: "module" }),
      "index.ts": source,
      "lib/greeting.ts": `export const greeting: string = "Hello";\n`,
      "broken.ts": `export const broken = ;\n`,
      ...(await vendored(["@shoal/client", "@shoal/client/app"])),
    });
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const running = async () => (await shoal.browsers.list()).items.length;
  const bundles = () => readdirSync(folder).filter((name) => name.startsWith(".shoal-"));

  const started = new Set<ChildProcess>();
  afterEach(() => {
    for (const child of started) child.kill("SIGTERM");
    started.clear();
  });

  function start(...args: string[]) {
    const child = spawn(process.execPath, [command, "dev", ...args], { cwd: folder, env });
    started.add(child);
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    const ended = once(child, "close").then(() => ({ status: child.exitCode, stdout, stderr }));
    return { child, ended, stdout: () => stdout, stderr: () => stderr };
  }

  it("runs one action with its variables and prints the result as JSON", async () => {
    const run = start("index.ts", "--invoke", "greet", "-p", '{"name":"Ada"}', "--env", "MARK=!", "-o", "json");
    const { status, stdout, stderr } = await run.ended;
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({
      app_name: "shop",
      action_name: "greet",
      status: "succeeded",
      output: JSON.stringify({ text: "Hello, Ada!", file: folder }),
    });
    expect(bundles()).toEqual([]);
  });

  it("ends the browsers of a failed action and exits with status 1", async () => {
    const { status, stdout, stderr } = await start("index.ts", "--invoke", "shop/fail").ended;
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(/\d\d:\d\d:\d\d\.\d{3} stderr about to fail\n/);
    expect(stderr).toContain("error: Action fail failed: sold out\n");
    await eventually("no browser", async () => (await running()) === 0);
  });

  it("names the line of a syntax error, and the actions for a wrong one", async () => {
    const broken = await start("broken.ts", "--invoke", "greet").ended;
    expect(broken.status).toBe(1);
    expect(broken.stderr).toMatch(/build .*broken\.ts:1:22:/);
    const unknown = await start("index.ts", "--invoke", "great").ended;
    expect(unknown.status).toBe(2);
    expect(unknown.stderr).toContain('Unknown action "great". Actions: greet, fail, keep-browser, wait.');
    expect(bundles()).toEqual([]);
  });

  it("builds again after a change, keeps the last good build after an error, and ends its programs and browsers", async () => {
    const run = start("index.ts", "--env", "MARK=!");
    const file = join(folder, "lib/greeting.ts");
    await eventually("the first build", () => run.stderr().includes("Ready."));
    expect(run.stderr()).toContain("shop\n  greet\n  fail\n  keep-browser\n  wait\n");

    writeFileSync(file, "export const greeting = ;\n");
    await eventually("the error", () => run.stderr().includes("The last good build stays."));
    expect(run.stderr()).toMatch(/build .*lib\/greeting\.ts:1:24:/);
    run.child.stdin.write('greet {"name":"Ada"}\n');
    await eventually("the old text", () => run.stdout().includes("Hello, Ada!"));

    writeFileSync(file, `export const greeting = "Salut";\n`);
    await eventually("the reload", () => run.stderr().includes("Reloaded."));
    run.child.stdin.write('greet {"name":"Bob"}\nkeep-browser\nnope\ngreet {\n');
    await eventually("the messages", () => run.stderr().includes("must be JSON"));
    await eventually("the new text", () => run.stdout().includes("Salut, Bob!"));
    expect(run.stderr()).toContain('Unknown action "nope"');
    expect(run.stderr()).toMatch(/stdout opened\n/);
    expect(await running()).toBe(1);

    const { pid = 0 } = run.child;
    const children = () => descendantsOf(pid).length;
    await eventually("the next program", () => children() === 1);
    run.child.stdin.end();
    expect((await run.ended).status).toBe(0);
    expect(bundles()).toEqual([]);
    await eventually("no browser", async () => (await running()) === 0);
  });

  it("cancels the action and ends its browsers on SIGINT", async () => {
    const run = start("index.ts", "--invoke", "wait");
    await eventually("the action", () => run.stderr().includes("waiting for ever"));
    const [program] = descendantsOf(run.child.pid ?? 0);
    run.child.kill("SIGINT");
    expect((await run.ended).status).toBe(130);
    if (program === undefined) expect.fail("The app had no process.");
    await eventually("its process is gone", () => survivors([program]).length === 0);
    expect(bundles()).toEqual([]);
    await eventually("no browser", async () => (await running()) === 0);
  });

  it("cancels the action with the first Ctrl-C on a terminal, and leaves with the second", async () => {
    const name = `shoal-dev-${String(process.pid)}`;
    const tmux = (...args: string[]) =>
      spawnSync("tmux", ["-L", name, "-f", "/dev/null", ...args], { encoding: "utf8" }).stdout;
    const words = [process.execPath, command, "dev", "index.ts"].map((word) => `'${word}'`).join(" ");
    const variables = Object.entries(env)
      .map(([key, value]) => `${key}='${String(value)}'`)
      .join(" ");
    tmux(
      "new-session",
      "-d",
      "-x",
      "120",
      "-y",
      "40",
      `cd '${folder}' && env -u CI ${variables} ${words}; echo LEFT $?; exec cat`,
    );
    const screen = () => tmux("capture-pane", "-p");
    try {
      await eventually("the prompt", () => /Ready[^]*\n> *\n/.test(screen()));
      tmux("send-keys", "wai", "Tab");
      await eventually("the completion", () => screen().includes("> wait"));
      tmux("send-keys", "Enter");
      await eventually("the action", () => screen().includes("stdout waiting for ever"));
      tmux("send-keys", "C-c");
      await eventually("the cancellation", () => /wait failed after \d+ ms: The action was cancelled\./.test(screen()));
      expect(screen()).not.toContain("LEFT");
      tmux("send-keys", "C-c");
      await eventually("the end", () => screen().includes("LEFT 0"));
    } finally {
      tmux("kill-server");
    }
    expect(bundles()).toEqual([]);
    await eventually("no browser", async () => (await running()) === 0);
  });
});
