import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { shoal, shoalPath } from "./testing/shoal.ts";

const help = async (...args: string[]) => {
  const { status, stdout, stderr } = await shoal(args);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout.trimEnd();
};

const golden = (name: string) => `testing/golden/${name}.txt`;

it("prints help when nothing is asked", async () => {
  const text = await help();
  await expect(`${text}\n`).toMatchFileSnapshot(golden("help"));
  expect(await help("--help")).toBe(text);
  expect(await help("help")).toBe(text);
});

it("prints a group's help when no command is named, also by another name of the group", async () => {
  const text = await help("profiles");
  await expect(`${text}\n`).toMatchFileSnapshot(golden("profiles"));
  for (const args of [["profile"], ["profiles", "--help"], ["help", "profiles"]]) expect(await help(...args)).toBe(text);
});

it.each([
  ["a change", ["help", "profiles", "update"], "profiles-update"],
  ["a list", ["profiles", "list", "--help"], "profiles-list"],
  ["many flags", ["browsers", "create", "--help"], "browsers-create"],
  ["files that move", ["browsers", "fs", "upload", "--help"], "browsers-fs-upload"],
  ["a program and its arguments", ["browsers", "process", "exec", "--help"], "browsers-process-exec"],
  ["a stream", ["browsers", "telemetry", "stream", "--help"], "browsers-telemetry-stream"],
])("tells what a command with %s takes", async (_what, args, name) => {
  await expect(`${await help(...args)}\n`).toMatchFileSnapshot(golden(name));
});

it("tells both forms of a watch", async () => {
  const text = await help("browsers", "fs", "watch", "--help");
  expect(text).toContain("Usage: shoal browsers fs watch [options] <id-or-name> <path>\n       shoal browsers fs watch [command]\n");
  expect(text).toContain("\n  follow <id-or-name> <path>      Print changes of a directory as they come,\n");
});

it.each<[string[], string]>([
  [["browserz"], "error: Unknown command 'browserz'. Did you mean browsers?\n  See: shoal --help\n"],
  [["browsers", "creat"], "error: Unknown command 'creat'. Did you mean create?\n  See: shoal browsers --help\n"],
  [["browsers", "create", "--nam", "x"], "error: Unknown option '--nam'. Did you mean --name?\n  See: shoal browsers create --help\n"],
  [["profiles", "get"], "error: Missing required argument 'id-or-name'.\n  See: shoal profiles get --help\n"],
  [["profiles", "get", ""], "error: <id-or-name> is empty.\n  See: shoal profiles get --help\n"],
  [["profiles", "create", "-o", "xml"], "error: Option '-o, --output <format>' argument 'xml' is invalid. Allowed choices are table, json, jsonl, yaml.\n  See: shoal profiles create --help\n"],
  [["profiles", "update", "x"], "error: --name is missing.\n  See: shoal profiles update --help\n"],
  [["browsers", "create", "--timeout-seconds", "soon"], 'error: --timeout-seconds takes a whole number, not "soon".\n  See: shoal browsers create --help\n'],
  [["browsers", "fs", "upload", "b", "f"], "error: Required option '--to <directory>' not specified.\n  See: shoal browsers fs upload --help\n"],
  [["profiles", "list", "--base-url", "nope"], 'error: The service\'s address "nope" is no http:// or https:// address.\n  Write it like http://127.0.0.1:7777, with --base-url.\n'],
])("explains %j", async (args, stderr) => {
  expect(await shoal(args)).toEqual({ status: 2, stdout: "", stderr });
});

it("is a program of its own where npm links it", () => {
  expect(readFileSync(shoalPath, "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
});

it("prints the version", async () => {
  expect(await help("--version")).toMatch(/^\d+\.\d+\.\d+$/);
});
