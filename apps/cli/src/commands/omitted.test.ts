import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { builtTable } from "../testing/arguments.ts";
import { shoal } from "../testing/shoal.ts";
import { hasSessionArgument } from "./session-argument.ts";

const folder = mkdtempSync(join(tmpdir(), "shoal-session-argument-"));
afterAll(() => {
  rmSync(folder, { recursive: true });
});
const env = { SHOAL_BASE_URL: "http://127.0.0.1:1", SHOAL_API_KEY: "sk_test_0123456789", SHOAL_CONFIG_DIR: folder };
const withSession = { ...env, SHOAL_SESSION: "research" };

async function requestOf(args: readonly string[], variables: Readonly<Record<string, string>> = withSession) {
  const { status, stderr, stdout } = await shoal([...args, "--dry-run", "--json"], { env: variables });
  expect(stderr).toBe("");
  expect(status).toBe(0);
  return JSON.parse(stdout) as { readonly url: string; readonly body?: unknown };
}
const pathOf = async (...args: readonly string[]) =>
  (await requestOf(args)).url.replace(env.SHOAL_BASE_URL, "").replaceAll("%2F", "/");

describe("the session of a command", () => {
  const omitted = builtTable().filter((spec) => hasSessionArgument(spec) && spec.entry.handwritten !== true);

  it("may be omitted in every command of a single session", async () => {
    expect(omitted.length).toBeGreaterThan(40);
    for (const { path, words } of omitted) {
      const help = (await shoal([...words, "--help"])).stdout;
      expect(help, path).toContain(` [id-or-name]`);
    }
  });

  it.each([
    [["browsers", "get"], "/browsers/research"],
    [["browsers", "downloads", "list"], "/browsers/research/downloads"],
    [["browsers", "downloads", "list", "other"], "/browsers/other/downloads"],
    [["browsers", "downloads", "get", "d1"], "/browsers/research/downloads/d1"],
    [["browsers", "downloads", "get", "other", "d1"], "/browsers/other/downloads/d1"],
    [["browsers", "fs", "file-info", "/a"], "/browsers/research/fs/file_info?path=/a"],
    [["browsers", "replays", "list"], "/browsers/research/replays"],
    [["browsers", "telemetry", "events", "--since", "1h"], "/browsers/research/telemetry/events?since=1h"],
  ])("of %j is in %s", async (args, path) => {
    expect(await pathOf(...args)).toBe(path);
  });

  it("is not taken for another argument that is missing", async () => {
    const missing = async (args: readonly string[], variables: Readonly<Record<string, string>> = withSession) =>
      (await shoal(args, { env: variables })).stderr;
    expect(await missing(["browsers", "fs", "file-info"])).toContain("Missing required argument 'path'.");
    expect(await missing(["browsers", "fs", "move"])).toContain("Missing required argument 'src-path'.");
    expect(await missing(["browsers", "fs", "read-file"])).toContain("Missing required argument 'path'.");
    expect(await missing(["browsers", "fs", "file-info", "research"], env)).toContain(
      "Missing required argument 'path'.",
    );
    expect(await missing(["browsers", "downloads", "list"], env)).toContain("This terminal has no current session.");
    expect(await missing(["browsers", "delete"])).toContain("Missing required argument 'id-or-name'.");
    expect(await missing(["browsers", "get", "a", "b"])).toContain("Too many arguments");
  });
});

describe("the period of the audit log", () => {
  const periodOf = async (...args: readonly string[]) => {
    const query = new URL((await requestOf(["audit-logs", "search", ...args])).url).searchParams;
    return (Date.parse(query.get("end") ?? "") - Date.parse(query.get("start") ?? "")) / 3_600_000;
  };

  it("is the last day, and takes times as how long ago they were", async () => {
    expect(await periodOf()).toBeCloseTo(24, 1);
    expect(await periodOf("--start", "7d", "--end", "1d")).toBeCloseTo(6 * 24, 1);
    expect(await periodOf("--start", "2026-01-01T00:00:00Z", "--end", "2026-01-01T02:00:00Z")).toBe(2);
  });
});

describe("flags that people guess", () => {
  it.each([
    [["--headful"], { headless: false }],
    [["--headed"], { headless: false }],
    [["--timeout", "5m"], { timeout_seconds: 300 }],
    [["--timeout", "5m", "--timeout-seconds", "60"], { timeout_seconds: 60 }],
  ])("%j of a new session are %j", async (flags, body) => {
    expect((await requestOf(["browsers", "create", ...flags])).body).toMatchObject(body);
  });

  it("--json is -o json, and help lists none of them", async () => {
    const { stdout } = await shoal(["whoami", "--json"], { env });
    const { stdout: json } = await shoal(["whoami", "-o", "json"], { env });
    expect(stdout).toBe(json);
    expect((await shoal(["browsers", "create", "--help"])).stdout).not.toMatch(/--(?:json|headful|headed|timeout )/);
    const usage = async (...words: string[]) => (await shoal([...words, "--help"])).stdout.split("\n")[0];
    expect(await usage("profiles", "create")).toBe("Usage: shoal profiles create [options]");
    expect(await usage("projects", "create")).toBe("Usage: shoal projects create [options] <name>");
  });

  it.each([
    [["profiles", "create", "shop"], { name: "shop" }],
    [["profiles", "create", "--name", "shop"], { name: "shop" }],
    [["projects", "create", "shop"], { name: "shop" }],
    [["projects", "create", "--name", "shop"], { name: "shop" }],
    [["browsers", "create", "shop", "--stealth"], { name: "shop", stealth: true }],
    [["api-keys", "create", "shop"], { name: "shop" }],
  ])("%j creates %j", async (args, body) => {
    expect((await requestOf(args)).body).toMatchObject(body);
  });

  it.each([
    [["profiles", "create", "a", "--name", "b"], "The name is given twice, as an argument and with --name."],
    [["projects", "create"], "Missing required argument 'name'."],
    [
      ["projects", "get", "--name", "a"],
      "Unknown option '--name'. Pass it as an argument: shoal projects get <id-or-name>.",
    ],
    [
      ["browsers", "fs", "file-info", "--path", "/a"],
      "Unknown option '--path'. Pass it as an argument: shoal browsers fs file-info [id-or-name] <path>.",
    ],
    [["screenshot", "page.png"], "The argument of screenshot is an element. To choose the file, pass --file page.png."],
    [
      ["browsers", "replays", "list", "--session", "a"],
      "Unknown option '--session'. Pass it as an argument: shoal browsers replays list [id-or-name].",
    ],
  ])("%j is answered with the right form", async (args, message) => {
    const { status, stderr } = await shoal(args, { env: withSession });
    expect([status, stderr.split("\n")[0]]).toEqual([2, `error: ${message}`]);
  });

  it("known values may be separated by commas", async () => {
    const events = ["browsers", "telemetry", "events", "--category"];
    expect(await pathOf(...events, "console,network", "--category", "page")).toContain(
      "category=console%2Cnetwork%2Cpage",
    );
    expect((await shoal([...events, "console,nothing"], { env: withSession })).stderr).toContain(
      '--category takes console, network, page, interaction, control, connection, system, screenshot, captcha, platform, monitor, not "nothing".',
    );
  });
});
