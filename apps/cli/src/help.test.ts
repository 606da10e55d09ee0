import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { shoal, shoalPath } from "./testing/shoal.ts";

const help = async (...args: string[]) => {
  const { status, stdout, stderr } = await shoal(args);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout.trimEnd();
};

const globalOptions = `Global Options:
  --base-url <url>        The service. SHOAL_BASE_URL; the service of this
                          machine when absent.
  --project <id-or-name>  The project to work in. SHOAL_PROJECT; the default one
                          when absent.
  --timeout <seconds>     Give up on a call after this long.
  --no-color              Print without colours. NO_COLOR.`;

it("prints help when nothing is asked", async () => {
  const text = `Usage: shoal [options] [command]

Real browsers for AI agents, on your own machine.

Options:
  -v, --version           Print the version.
  --base-url <url>        The service. SHOAL_BASE_URL; the service of this
                          machine when absent.
  --project <id-or-name>  The project to work in. SHOAL_PROJECT; the default one
                          when absent.
  --timeout <seconds>     Give up on a call after this long.
  --no-color              Print without colours. NO_COLOR.
  -h, --help              Print help.

Commands:
  serve                   Run the service.
  doctor                  Tell what this machine has for sessions.
  browsers                Start, find, change and end browser sessions.
  profiles                Saved browser state that sessions start from.
  api-keys                Keys that open the service.
  health                  Tell whether the service is alive.
  ready                   Tell whether the service can take work.
  openapi                 Get the OpenAPI document of the service.
  help [command]          Print help for a command.

Examples:
  $ shoal serve
  $ shoal browsers create --name research
  $ shoal browsers fs watch research /home/shoal/Downloads

Exit status:
    0  it worked
    1  something else went wrong
    2  the command line is wrong; see --help
    3  no key, or a key that does not open this (401, 403)
    4  it does not exist (404)
    5  it contradicts what exists, a name that is taken for instance (409)
    6  a value that the service refuses (400, 413, 415, 422)
    7  too much at once; try later (429, 529)
    8  the service failed (5xx)
    9  the service cannot be reached
   10  no answer in time
   11  the service does not have this yet (501)
   12  the service cannot start
  130  stopped by Ctrl-C`;
  expect(await help()).toBe(text);
  expect(await help("--help")).toBe(text);
});

it("prints a group's help when no command is named, also by another name of the group", async () => {
  const text = `Usage: shoal profiles [options] [command]

Saved browser state that sessions start from.

Options:
  -h, --help              Print help.

${globalOptions}

Commands:
  create                  Create a profile.
  get <id-or-name>        Get a profile by id or name.
  list                    List profiles.
  update <id-or-name>     Rename a profile.
  delete <id-or-name>     Delete a profile.

Examples:
  $ shoal profiles create --name shopping
  $ shoal profiles list`;
  for (const args of [["profiles"], ["profile"], ["profiles", "--help"], ["help", "profiles"]]) expect(await help(...args)).toBe(text);
});

it("tells what a derived command takes", async () => {
  expect(await help("help", "profiles", "update")).toBe(`Usage: shoal profiles update [options] <id-or-name>

Rename a profile.
Sessions that run with the profile keep it, whatever its name.

Arguments:
  id-or-name              The profile's id, or its name.

Options:
  --name <text>           The new name, unique in the project, 1 to 255
                          characters. Required.
  -o, --output <format>   Print a table for people, json, or jsonl: a JSON value
                          a line.
  -h, --help              Print help.

${globalOptions}

Examples:
  $ shoal profiles update shopping --name groceries`);
});

it("tells what a command that moves files takes", async () => {
  expect(await help("browsers", "fs", "upload", "--help")).toBe(`Usage: shoal browsers fs upload [options] <id-or-name> <files...>

Uploads files into a directory of the session: all of them, or none when one
fails.

Arguments:
  id-or-name              The session's id or name.
  files                   Files of this machine.

Options:
  --to <directory>        Absolute path of a directory in the session; made when
                          missing.
  -h, --help              Print help.

${globalOptions}

Examples:
  $ shoal browsers fs upload research a.csv b.csv --to /home/shoal/work`);
});

it("tells both forms of a watch", async () => {
  const text = await help("browsers", "fs", "watch", "--help");
  expect(text).toContain("Usage: shoal browsers fs watch [options] <id-or-name> <path>\n       shoal browsers fs watch [command]\n");
  expect(text).toContain("\n  follow <id-or-name> <path>      Print changes of a directory as they come,\n");
});

it("has examples below the help of every command", async () => {
  const commandsOf = (text: string) => [...(/\nCommands:\n([\s\S]*?)\n\n/.exec(`${text}\n\n`)?.[1] ?? "").matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = ""]) => name);
  const visit = async (path: readonly string[]): Promise<string[]> => {
    const text = await help(...path, "--help");
    if (path.length > 0) expect(text, path.join(" ")).toMatch(/Examples:\n {2}\$ /);
    const below = commandsOf(text).filter((name) => name !== "help");
    const found = [path.join(" ")];
    for (const name of below) found.push(...(await visit([...path, name])));
    return found;
  };
  expect((await visit([])).length).toBeGreaterThan(40);
});

it.each<[string[], string]>([
  [["browserz"], "error: Unknown command 'browserz'. Did you mean browsers?\n  See: shoal --help\n"],
  [["browsers", "creat"], "error: Unknown command 'creat'. Did you mean create?\n  See: shoal browsers --help\n"],
  [["browsers", "create", "--nam", "x"], "error: Unknown option '--nam'. Did you mean --name?\n  See: shoal browsers create --help\n"],
  [["profiles", "get"], "error: Missing required argument 'id-or-name'.\n  See: shoal profiles get --help\n"],
  [["profiles", "get", ""], "error: <id-or-name> is empty.\n  See: shoal profiles get --help\n"],
  [["profiles", "create", "-o", "xml"], "error: Option '-o, --output <format>' argument 'xml' is invalid. Allowed choices are table, json, jsonl.\n  See: shoal profiles create --help\n"],
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
