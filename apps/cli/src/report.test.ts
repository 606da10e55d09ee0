import { expect, it } from "vitest";
import { inCommandWords } from "./report.ts";

const words = {
  nameOf: (field: string) => ({ timeout_seconds: "--timeout-seconds", path: "<path>", missing_ok: "--missing-ok" })[field],
  commandOf: (name: string) =>
    ({
      "profiles.list": "shoal profiles list",
      "browsers.fs.watch.start": "shoal browsers fs watch start",
      list_files: "shoal browsers fs list-files",
    })[name],
};

it.each([
  ["body.timeout_seconds: expected at least 10", "--timeout-seconds: expected at least 10"],
  ["query.path: must be absolute", "<path>: must be absolute"],
  ["body.unknown_field: is not known", "body.unknown_field: is not known"],
  ["List them with profiles.list, or stop.", "List them with `shoal profiles list`, or stop."],
  ["Start another with browsers.fs.watch.start().", "Start another with `shoal browsers fs watch start`."],
  ["List its directory with list_files.", "List its directory with `shoal browsers fs list-files`."],
  ["Send missing_ok=true if that is no error.", "Send --missing-ok if that is no error."],
  ['A profile named "profiles.list" exists.', 'A profile named "profiles.list" exists.'],
  ["Cannot read /home/list_files: see example.com.", "Cannot read /home/list_files: see example.com."],
])("says %j as %j", (message, said) => {
  expect(inCommandWords(message, words)).toBe(said);
});
