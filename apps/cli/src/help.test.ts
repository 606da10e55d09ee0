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
  ["a value that destroys", ["projects", "update", "--help"], "projects-update"],
  ["nothing in the service yet", ["credentials", "totp-code", "--help"], "credentials-totp-code"],
  ["files that move", ["browsers", "fs", "upload", "--help"], "browsers-fs-upload"],
])("tells what a command with %s takes", async (_what, args, name) => {
  await expect(`${await help(...args)}\n`).toMatchFileSnapshot(golden(name));
});

it("tells what a command with a program, and one with a stream, has", async () => {
  const exec = await help("browsers", "process", "exec", "--help");
  expect(exec).toContain("Usage: shoal browsers process exec [options] <id-or-name> <command> [args...]\n");
  expect(exec).toContain("\nFields of the answer:\n  exit_code, ");
  expect(exec).toContain(
    "\nRequest:\n  POST /browsers/{id}/process/exec\n\nExamples:\n  $ shoal browsers process exec research -- ls -la /home/shoal\n",
  );
  expect(await help("browsers", "telemetry", "stream", "--help")).toContain("\nFields of an event:\n  seq, event\n");
  expect(await help("browsers", "create", "--help")).toMatch(/\n {2}--profile-save-changes +Write the session's state/);
});

it("says what the service does not have yet", async () => {
  const marked = "(not in this service yet).";
  const all = (await help()).replace(/\n {20,}/g, " ");
  for (const what of ["deploy <entrypoint>", "invoke <app-name> <action-name>", "credentials"])
    expect(all).toMatch(new RegExp(`\n {2}${what} .*${marked.replace(/[().]/g, "\\$&")}`));
  expect(all).not.toMatch(/\n {2}(browsers|profiles|auth) .*not in this service/);
  expect((await help("credentials")).replace(/\n {20,}/g, " ")).toMatch(/\n {2}create .*\(not in this service yet\)\./);
  expect((await help("auth")).replace(/\n {20,}/g, " ")).toMatch(/\n {2}connections .*\(not in this service yet\)\./);
  for (const args of [["credentials", "create"], ["deploy"]])
    expect((await help(...args, "--help")).replaceAll("\n", " ")).toContain(
      "The service of this version answers that it is not implemented (exit status 11); a newer one may have it, and then this works.",
    );
  expect(await help("profiles")).not.toContain(marked);
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
  [
    ["profiles", "create", "-o", "xml"],
    "error: Option '-o, --output <format>' argument 'xml' is invalid. Allowed choices are table, json, jsonl, yaml.\n  See: shoal profiles create --help\n",
  ],
  [["profiles", "update", "x"], "error: --name is missing.\n  See: shoal profiles update --help\n"],
  [
    ["browsers", "create", "--timeout-seconds", "soon"],
    'error: --timeout-seconds takes a whole number, not "soon".\n  See: shoal browsers create --help\n',
  ],
  [["browsers", "fs", "upload", "b", "f"], "error: Required option '--to <directory>' not specified.\n  See: shoal browsers fs upload --help\n"],
  [
    ["profiles", "list", "--base-url", "nope"],
    'error: The service\'s address "nope" is no http:// or https:// address.\n  Write it like http://127.0.0.1:7777, with --base-url.\n',
  ],
])("explains %j", async (args, stderr) => {
  expect(await shoal(args)).toEqual({ status: 2, stdout: "", stderr });
});

it("is a program of its own where npm links it", () => {
  expect(readFileSync(shoalPath, "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
});

it("prints the version", async () => {
  expect(await help("--version")).toMatch(/^\d+\.\d+\.\d+$/);
});
