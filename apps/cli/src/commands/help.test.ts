import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { bareEnv, shoal, shoalPath, shoalProcess } from "../testing/shoal.ts";

const help = async (...args: string[]) => {
  const { status, stdout, stderr } = await shoal(args);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout.trimEnd();
};

const golden = (name: string) => `../testing/golden/${name}.txt`;

it("prints help without arguments", async () => {
  const text = await help();
  await expect(`${text}\n`).toMatchFileSnapshot(golden("help"));
  expect(await help("--help")).toBe(text);
  expect(await help("help")).toBe(text);
});

it("lists every command with --all", async () => {
  const text = await help("help", "--all");
  await expect(`${text}\n`).toMatchFileSnapshot(golden("help-all"));
  expect(await help("--help", "--all")).toBe(text);
});

it("prints the help of a group and of its aliases", async () => {
  const text = await help("profiles");
  await expect(`${text}\n`).toMatchFileSnapshot(golden("profiles"));
  for (const args of [["profile"], ["profiles", "--help"], ["help", "profiles"]])
    expect(await help(...args)).toBe(text);
});

it.each([
  ["a change", ["help", "profiles", "update"], "profiles-update"],
  ["a list", ["profiles", "list", "--help"], "profiles-list"],
  ["a destructive value", ["projects", "update", "--help"], "projects-update"],
  ["an optional body", ["auth", "connections", "login", "--help"], "auth-connections-login"],
  ["file transfers", ["browsers", "fs", "upload", "--help"], "browsers-fs-upload"],
])("prints the help of a command with %s", async (_what, args, name) => {
  await expect(`${await help(...args)}\n`).toMatchFileSnapshot(golden(name));
});

it("lists the fields of results and events", async () => {
  const exec = await help("browsers", "process", "exec", "--help");
  expect(exec).toContain("Usage: shoal browsers process exec [options] <id-or-name> <command> [args...]\n");
  expect(exec).toContain("\nFields of the result, for --query:\n  exit_code, ");
  expect(exec).toContain(
    "\nRequest:\n  POST /browsers/{id}/process/exec\n\nExamples:\n  $ shoal browsers process exec research -- ls -la /home/shoal\n",
  );
  expect(await help("browsers", "telemetry", "stream", "--help")).toContain(
    "\nFields of each event, for --query:\n  seq, event\n",
  );
  expect(await help("browsers", "create", "--help")).toMatch(
    /\n {2}--profile-save-changes +Save the state to the profile/,
  );
});

it("documents both forms of a watch", async () => {
  const text = await help("browsers", "fs", "watch", "--help");
  expect(text).toContain(
    "Usage: shoal browsers fs watch [options] [id-or-name] <path>\n       shoal browsers fs watch [command]\n",
  );
  expect(text).toContain("\n  follow [id-or-name] <path>      Follow changes in a directory until Ctrl-C\n");
});

it.each<[string[], string]>([
  [["browserz"], "error: Unknown command 'browserz'. Did you mean browsers?\n  See: shoal --help\n"],
  [["browsers", "creat"], "error: Unknown command 'creat'. Did you mean create?\n  See: shoal browsers --help\n"],
  [
    ["browsers", "create", "--nam", "x"],
    "error: Unknown option '--nam'. Did you mean --name?\n  See: shoal browsers create --help\n",
  ],
  [["profiles", "get"], "error: Missing required argument 'id-or-name'.\n  See: shoal profiles get --help\n"],
  [["profiles", "get", ""], "error: <id-or-name> is empty.\n  See: shoal profiles get --help\n"],
  [
    ["profiles", "create", "-o", "xml"],
    "error: Option '-o, --output <format>' argument 'xml' is invalid. Allowed choices are table, json, jsonl, yaml.\n  See: shoal profiles create --help\n",
  ],
  [
    ["profiles", "update", "x"],
    "error: Nothing to change. Pass --name, --web-bot-auth, --web-bot-auth-enabled, --web-bot-auth-sign-only, --web-bot-auth-signature-agent, --location, --location-timezone, --location-locale, --conditions, --conditions-color-scheme, --conditions-reduced-motion, or --conditions-downloads.\n  See: shoal profiles update --help\n",
  ],
  [["api-keys", "update", "x"], "error: --name is missing.\n  See: shoal api-keys update --help\n"],
  [
    ["browsers", "create", "--timeout-seconds", "soon"],
    'error: --timeout-seconds takes a whole number, not "soon".\n  See: shoal browsers create --help\n',
  ],
  [
    ["browsers", "fs", "upload", "b", "f"],
    "error: Required option '--to <directory>' not specified.\n  See: shoal browsers fs upload --help\n",
  ],
  [
    ["profiles", "list", "--base-url", "nope"],
    'error: The URL of the service must start with http:// or https://, not "nope".\n  Set --base-url to a URL like http://127.0.0.1:7777.\n',
  ],
])("explains the error of %j", async (args, stderr) => {
  expect(await shoal(args)).toEqual({ status: 2, stdout: "", stderr });
});

describe("the built command", () => {
  it("starts with a shebang, so that npm can link it", () => {
    expect(readFileSync(shoalPath, "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  it("prints the version, and reports an error with its status", async () => {
    const { stdout, ...version } = await shoalProcess(["--version"]);
    expect(version).toEqual({ status: 0, stderr: "" });
    expect(stdout).toBe(`${await help("--version")}\n`);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    const failure = await shoal(["browserz"]);
    expect(failure.status).toBe(2);
    expect(await shoalProcess(["browserz"])).toEqual(failure);
  });

  it("can load every file of its bundle", async () => {
    const chunks = join(dirname(shoalPath), "chunks");
    const files = readdirSync(chunks).filter((name) => name.endsWith(".js"));
    expect(files.length).toBeGreaterThan(20);
    const urls = files.map((name) => pathToFileURL(join(chunks, name)).href);
    const script = `for (const url of ${JSON.stringify(urls)}) await import(url)`;
    const loading = promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script], {
      env: bareEnv(),
    });
    expect(await loading).toEqual({ stdout: "", stderr: "" });
  });
});
