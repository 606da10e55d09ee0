import { contract } from "@shoal/contract";
import document from "@shoal/contract/openapi.json" with { type: "json" };
import type { Command } from "commander";
import { expect, it } from "vitest";
import type { CommandSpec } from "../core/types.ts";
import { commandTable } from "./command-table.ts";
import { flagSpelling } from "./flag-spelling.ts";
import type { OpenApiDocument } from "./schema-reader.ts";
import { splitTable } from "./split-table.ts";
import { groups } from "./groups.ts";
import { entries } from "./entries.ts";
import { pathOf } from "../commands/command-line.ts";
import { buildProgram } from "../commands/program.ts";
import { silentRun } from "../testing/silent-terminal.ts";

const table = commandTable(document as unknown as OpenApiDocument, entries);
const spec = (operationId: string) => table.find((entry) => entry.operationId === operationId);

it("has one command with unique words for every operation of the contract", () => {
  expect(table.map(({ operationId }) => operationId).sort()).toEqual(
    Object.values(contract)
      .map(({ operationId }) => operationId)
      .sort(),
  );
  const words = table.map(({ words }) => words.join(" "));
  expect(new Set(words).size).toBe(words.length);
});

it("has entries for existing operations only, and an example for every command", () => {
  for (const operationId of Object.keys(entries)) expect(spec(operationId), operationId).toBeDefined();
  const files = ["read-file", "write-file", "upload-zip", "download-dir-zip"];
  for (const { words, entry: own } of table) {
    if (files.includes(words.at(-1) ?? "")) continue;
    expect(
      own.examples?.some((line) => line.includes(`shoal ${words.join(" ")}`)),
      words.join(" "),
    ).toBe(true);
  }
});

it("refers to existing fields only", () => {
  for (const [operationId, { arguments: positional = [], flags = {}, rest, first = [], text }] of Object.entries(
    entries,
  )) {
    const fields = spec(operationId)?.flags.map(({ field }) => field);
    for (const field of [...positional, ...Object.keys(flags), ...(rest === undefined ? [] : [rest])])
      expect(fields, `${operationId} ${field}`).toContain(field);
    const answered = spec(operationId)?.fields;
    for (const field of [...first, ...(text === undefined ? [] : [text])])
      expect(answered, `${operationId} ${field}`).toContain(field);
  }
});

it("has columns for existing fields only", () => {
  for (const { operationId, fields, entry: own } of table)
    for (const [, field] of own.columns ?? [])
      expect(own.rows === undefined ? fields : [...fields, "status", "age", "last_used"], operationId).toContain(field);
});

it("shows no region of a provider for apps, which run on the machines of the service", () => {
  const ofApps = table.filter(({ operationId }) => /^(?:apps|deployments|invocations)\./.test(operationId));
  expect(ofApps.flatMap(({ entry: own }) => own.columns ?? [])).toContainEqual(["APP", "app_name"]);
  for (const { operationId, entry: own } of ofApps)
    expect((own.columns ?? []).flat(), operationId).not.toContain("region");
});

it("confirms every deletion, except of sessions and watches", () => {
  const harmless = ["browsers.delete", "browsers.fs.watch.stop"];
  const unasked = table
    .filter(
      ({ method, deprecated, entry: own }) => method === "DELETE" && own.confirm === undefined && deprecated !== true,
    )
    .map(({ operationId }) => operationId);
  expect(unasked.filter((operationId) => !operationId.startsWith("projects.legacy.")).sort()).toEqual(harmless);
});

it("confirms other destructive operations", () => {
  const asking = table.filter(({ method, entry: own }) => method !== "DELETE" && own.confirm !== undefined);
  expect(
    asking
      .map(({ operationId, entry: { confirmOnly } }) => [operationId, confirmOnly?.field, confirmOnly?.value])
      .sort(),
  ).toEqual([
    ["apiKeys.rotate", undefined, undefined],
    ["browserPools.flush", undefined, undefined],
    ["browserPools.update", "discard_all_idle", true],
    ["browsers.fs.deleteDirectory", undefined, undefined],
    ["browsers.fs.deleteFile", undefined, undefined],
    ["profiles.rollback", undefined, undefined],
    ["profiles.storageState.import", undefined, undefined],
    ["projects.update", "status", "archived"],
  ]);
  for (const {
    operationId,
    entry: { confirmOnly },
    flags,
  } of asking)
    if (confirmOnly !== undefined)
      expect(
        flags.map(({ field }) => field),
        operationId,
      ).toContain(confirmOnly.field);
});

it("derives kinds, places, choices and clearable fields from schemas", () => {
  const flag = (operationId: string, field: string) => spec(operationId)?.flags.find((entry) => entry.field === field);
  expect(flag("profiles.list", "limit")).toMatchObject({
    place: "query",
    kind: "integer",
    default: 20,
    required: false,
  });
  expect(flag("apiKeys.update", "name")).toMatchObject({
    place: "body",
    kind: "string",
    required: true,
    clearable: false,
  });
  expect(flag("apiKeys.list", "status")).toMatchObject({ values: ["active", "deleted", "all"] });
  expect(flag("browsers.create", "tags")).toMatchObject({ kind: "map" });
  expect(flag("browsers.create", "name")).toMatchObject({ clearable: false });
  expect(flag("browsers.update", "name")).toMatchObject({ clearable: true });
  expect(flag("browsers.fs.watch.start", "recursive")).toMatchObject({ kind: "boolean" });
});

it("derives the kind of a result from its response", () => {
  expect(
    Object.fromEntries(
      [
        "profiles.get",
        "profiles.list",
        "auditLogs.list",
        "profiles.delete",
        "browsers.fs.readFile",
        "browsers.fs.watch.events",
        "browsers.replays.download",
      ].map((id) => [id, spec(id)?.result]),
    ),
  ).toEqual({
    "profiles.get": "json",
    "profiles.list": "page",
    "auditLogs.list": "tokenPage",
    "browsers.replays.download": "bytes",
    "profiles.delete": "empty",
    "browsers.fs.readFile": "bytes",
    "browsers.fs.watch.events": "events",
  });
});

it("has no duplicate flags and no conflicts with global flags", () => {
  const { index, tables } = splitTable(table, groups, { version: "0.0.0", notYet: new Set() });
  const program = buildProgram({ index, load: (word) => tables[`of-${word}`] ?? [] }, silentRun());
  // Commander rejects duplicate flags.
  program.fillAll();
  const globals = new Set(program.root.options.flatMap(({ long, short }) => [long, short]));
  const visit = (command: Command): number => {
    if (command.parent)
      for (const { long, short } of command.options)
        for (const flag of [long, short])
          if (typeof flag === "string") expect(globals.has(flag), `${pathOf(command)} ${flag}`).toBe(false);
    return command.commands.reduce((count, child) => count + visit(child), 1);
  };
  expect(visit(program.root)).toBeGreaterThan(table.length);
});

/** Splits a command line like a shell. */
function shellWords(line: string): string[] {
  return [...line.matchAll(/(?:[^\s'"]+|'[^']*'|"[^"]*")+/g)].map(([word]) => word.replaceAll(/['"]/g, ""));
}

/** The spellings of each flag that a call needs. */
function requiredFlags(spec: CommandSpec | undefined): readonly (readonly string[])[] {
  if (spec === undefined || spec.entry.handwritten === true) return [];
  const { arguments: positional = [], rest } = spec.entry;
  return spec.flags
    .filter(({ field, required }) => required && !field.includes(".") && ![...positional, rest].includes(field))
    .map(({ field }) => {
      const spellings = flagSpelling(spec.entry, field).split(", ");
      return [...spellings, ...spellings.map((flag) => flag.replace(/^--/, "--no-"))];
    });
}

it("has examples with existing commands and flags only, and with every required flag", () => {
  const { index, tables } = splitTable(table, groups, { version: "0.0.0", notYet: new Set() });
  const program = buildProgram({ index, load: (word) => tables[`of-${word}`] ?? [] }, silentRun());
  program.fillAll();
  const globals = new Set(program.root.options.map(({ long }) => long));
  const lines = [
    ...Object.values(entries).flatMap(({ examples = [] }) => examples),
    ...Object.values(groups).flatMap(({ examples }) => examples),
  ];
  for (const line of lines) {
    for (const call of line.split(/[|;]|&&|\$\(|\)/).filter((part) => part.trim().startsWith("shoal "))) {
      let command: Command = program.root;
      const words = shellWords(call.replace(/ -- .*$/, "").replace(/ [<>].*$/, "")).slice(1);
      for (const word of words) {
        if (word.startsWith("-") && word !== "-")
          expect(
            globals.has(word) ||
              word === "--help" ||
              [command, ...command.commands.filter((child) => child.name() === "follow")]
                .flatMap(({ options }) => options)
                .some(({ long, short }) => long === word || short === word),
            `${line}: ${word}`,
          ).toBe(true);
        else command = command.commands.find((child) => child.name() === word) ?? command;
      }
      expect(command.parent, line).not.toBeNull();
      const called = program.specFor(command);
      // Shorter commands have the operation of another one.
      if (pathOf(command) !== `shoal ${called?.words.join(" ") ?? ""}`) continue;
      for (const spellings of requiredFlags(called))
        expect
          .soft(
            words.some((word) => spellings.some((flag) => word === flag || word.startsWith(`${flag}-`))),
            `${line}: ${spellings.join(", ")}`,
          )
          .toBe(true);
    }
  }
});

it("describes every command and flag for people, without wire names and operation ids", () => {
  const ids = table.map(({ operationId }) => operationId).filter((id) => id.includes("."));
  for (const { operationId, description, entry: own, flags, params, summary } of table) {
    if (own.handwritten === true) continue;
    expect(summary, operationId).toMatch(/^[A-Z].*[^.]$/);
    const wireNames = [...ids, ...flags.map(({ field }) => field).filter((field) => /[_.]/.test(field))];
    for (const text of [summary, description, ...[...params, ...flags].map((each) => each.description)]) {
      expect(text, operationId).not.toContain("`");
      for (const name of wireNames) expect(text, `${operationId}: ${text}`).not.toContain(name);
    }
    for (const flag of flags) expect(flag.description, `${operationId} ${flag.field}`).toMatch(/^\S.*[^.]$/);
  }
});

it("shows the negative form of flags that are on by default", () => {
  const negated = table.flatMap(({ flags, operationId }) =>
    flags.filter((flag) => flag.negated === true).map(({ field }) => `${operationId} ${field}`),
  );
  expect(negated).toContain("browsers.create headless");
  expect(negated).toContain("browsers.logs.stream follow");
  expect(negated).not.toContain("browsers.create stealth");
});
