import { ApiError, ConnectionError } from "@shoal/transport";
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { silentTerminal } from "../testing/silent-terminal.ts";
import { report } from "./report.ts";

const flags: Readonly<Record<string, string>> = {
  timeout_seconds: "--timeout-seconds",
  path: "<path>",
  viewport: "--viewport",
  "profile.id": "--profile-id",
  missing_ok: "--missing-ok",
};
const commands: Readonly<Record<string, string>> = {
  "profiles.list": "shoal profiles list",
  "browsers.fs.watch.start": "shoal browsers fs watch start",
  list_files: "shoal browsers fs list-files",
};

/** Omits the last line, which has code and status. */
function linesOf(message: string, more: Partial<Pick<ApiError, "details" | "fields" | "retryAfterMs">> = {}): string[] {
  const data = { code: "bad_request", status: 400, requestId: undefined, retryable: false, ...more };
  return allLinesOf(new ApiError(message, data)).slice(0, -1);
}

function allLinesOf(error: Error): string[] {
  const stderr = new PassThrough().setEncoding("utf8");
  report(error, {
    terminal: { ...silentTerminal(), stderr },
    command: "shoal browsers create",
    nameOf: (field) => flags[field],
    commandOf: (name) => commands[name],
    keySource: undefined,
  });
  return (stderr.read() as string).trimEnd().split("\n");
}

it.each([
  ["body.timeout_seconds", "expected at least 10", "--timeout-seconds: expected at least 10"],
  ["query.path", "must be absolute", "<path>: must be absolute"],
  ["body.profile.id", "not found", "--profile-id: not found"],
  ["body.viewport.height", "expected a number", "--viewport: height: expected a number"],
  ["body.unknown_field", "unknown", "unknown_field: unknown"],
  ["body", "give exactly one of a and b", "give exactly one of a and b"],
])("names the flag of %s", (field, problem, line) => {
  expect(linesOf(`${field}: ${problem}`, { fields: { field } })).toEqual([`error: ${line}`]);
});

it("prints the hint on its own line, with flags and commands instead of wire names", () => {
  const hint = "Send missing_ok, or list the directory with list_files";
  expect(linesOf(`query.path: not found. ${hint}`, { fields: { field: "query.path", hint } })).toEqual([
    "error: <path>: not found.",
    "  Send --missing-ok, or list the directory with `shoal browsers fs list-files`.",
  ]);
});

it("names the flag of the address instead of the option of the client", () => {
  const hint = "Use http:// in baseUrl.";
  const message = `profiles.list could not reach https://a.example: it answers without TLS. ${hint}`;
  expect(allLinesOf(new ConnectionError(message, { hint }))).toEqual([
    "error: `shoal profiles list` could not reach https://a.example: it answers without TLS.",
    "  Use http:// in --base-url or SHOAL_BASE_URL.",
  ]);
  expect(allLinesOf(new ConnectionError("profiles.list could not reach https://a.example: read ECONNRESET."))[1]).toBe(
    "  Is the service running? Check its address in --base-url or SHOAL_BASE_URL.",
  );
});

it("names the flag of a status", () => {
  const hint = "list them with profiles.list, ended ones with the status all.";
  expect(linesOf(`Not found. ${hint}`, { fields: { hint } })).toEqual([
    "error: Not found.",
    "  list them with `shoal profiles list`, ended ones with --status all.",
  ]);
});

it("prints every invalid field with its flag", () => {
  const details = [
    { message: "body.timeout_seconds: expected a number", field: "body.timeout_seconds" },
    { message: "query.path: required", field: "query.path" },
  ];
  expect(
    linesOf("body.timeout_seconds: expected a number", { details, fields: { field: "body.timeout_seconds" } }),
  ).toEqual(["error: --timeout-seconds: expected a number", "  <path>: required"]);
});

it.each([
  ["List them with profiles.list, or stop.", "List them with `shoal profiles list`, or stop."],
  ["Start another with browsers.fs.watch.start().", "Start another with `shoal browsers fs watch start`."],
  ["List its directory with list_files.", "List its directory with `shoal browsers fs list-files`."],
  ['A profile named "profiles.list" exists.', 'A profile named "profiles.list" exists.'],
  ["Cannot read /home/list_files: see example.com.", "Cannot read /home/list_files: see example.com."],
  ["body.timeout_seconds is a value.", "body.timeout_seconds is a value."],
])("prints the message %j as %j", (message, line) => {
  expect(linesOf(message)).toEqual([`error: ${line}`]);
});
