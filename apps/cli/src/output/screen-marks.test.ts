import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { printResult, plainSpec } from "./print-result.ts";
import { escapeMarks, hiddenMarks } from "./screen-marks.ts";
import { toYaml } from "./to-yaml.ts";

const name = "invoice\u202efdp.exe\u009b31m\u2066x\u061c\u007f";
const value = { name, [`key\u202e`]: [name] };

async function shown(format: "json" | "jsonl" | "table" | "yaml"): Promise<string> {
  const stdout = new PassThrough();
  const terminal = { stdout: escapeMarks(stdout), stderr: stdout, screen: true, colour: false, width: 80 };
  await printResult(plainSpec, value, { terminal: terminal as never, format, args: [], quiet: false });
  stdout.end();
  return text(stdout);
}

it.each(["json", "jsonl", "table", "yaml"] as const)("shows no hidden marks on a terminal as %s", async (format) => {
  expect(await shown(format)).not.toMatch(hiddenMarks);
});

it("keeps the value of JSON and YAML", async () => {
  expect(JSON.parse(await shown("json"))).toEqual(value);
  expect(JSON.parse(await shown("jsonl"))).toEqual(value);
  expect(parse(await shown("yaml"))).toEqual(value);
});

it("changes nothing for other programs", () => {
  expect(parse(toYaml(value))).toEqual(value);
});

it("passes bytes on unchanged", async () => {
  const stream = escapeMarks(new PassThrough());
  stream.end(Buffer.from(name));
  expect(await text(stream)).toBe(name);
});
