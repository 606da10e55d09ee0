import { contract } from "@shoal/contract";
import document from "@shoal/contract/openapi.json" with { type: "json" };
import type { Command } from "commander";
import { expect, it } from "vitest";
import { commandTable, type OpenApiDocument } from "./command-table.ts";
import { splitTable } from "./build/split-table.ts";
import { groups } from "./groups.ts";
import { polish } from "./polish.ts";
import { buildProgram, pathOf } from "./program.ts";
import { silentTerminal } from "./testing/silent-terminal.ts";

const table = commandTable(document as unknown as OpenApiDocument, polish);
const spec = (operationId: string) => table.find((entry) => entry.operationId === operationId);

it("has a command for every operation of the contract, each under words of its own", () => {
  expect(table.map(({ operationId }) => operationId).sort()).toEqual(
    Object.values(contract)
      .map(({ operationId }) => operationId)
      .sort(),
  );
  const words = table.map(({ words }) => words.join(" "));
  expect(new Set(words).size).toBe(words.length);
});

it("polishes no operation that does not exist, and gives every command an example of its own", () => {
  for (const operationId of Object.keys(polish)) expect(spec(operationId), operationId).toBeDefined();
  const files = ["read-file", "write-file", "upload-zip", "download-dir-zip"];
  for (const { words, polish: own } of table) {
    if (files.includes(words.at(-1) ?? "")) continue;
    expect(
      own.examples?.some((line) => line.includes(`shoal ${words.join(" ")}`)),
      words.join(" "),
    ).toBe(true);
  }
});

it("polishes fields that the operation has", () => {
  for (const [operationId, { arguments: positional = [], flags = {}, rest, first = [], text }] of Object.entries(polish)) {
    const fields = spec(operationId)?.flags.map(({ field }) => field);
    for (const field of [...positional, ...Object.keys(flags), ...(rest === undefined ? [] : [rest])])
      expect(fields, `${operationId} ${field}`).toContain(field);
    const answered = spec(operationId)?.fields;
    for (const field of [...first, ...(text === undefined ? [] : [text])]) expect(answered, `${operationId} ${field}`).toContain(field);
  }
});

it("shows columns that an item has", () => {
  for (const { operationId, fields, polish: own } of table) for (const [, field] of own.columns ?? []) expect(fields, operationId).toContain(field);
});

it("asks before everything that deletes, but for what is made anew with one command", () => {
  const harmless = ["browsers.delete", "browsers.fs.watch.stop"];
  const unasked = table
    .filter(({ method, deprecated, polish: own }) => method === "DELETE" && own.confirm === undefined && deprecated !== true)
    .map(({ operationId }) => operationId);
  expect(unasked.filter((operationId) => !operationId.startsWith("projects.legacy.")).sort()).toEqual(harmless);
});

it("asks before everything else that takes something away for good", () => {
  const asking = table.filter(({ method, polish: own }) => method !== "DELETE" && own.confirm !== undefined);
  expect(asking.map(({ operationId, polish: { confirmOnly } }) => [operationId, confirmOnly?.field, confirmOnly?.value]).sort()).toEqual([
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
    polish: { confirmOnly },
    flags,
  } of asking)
    if (confirmOnly !== undefined)
      expect(
        flags.map(({ field }) => field),
        operationId,
      ).toContain(confirmOnly.field);
});

it("reads kinds, places, choices and what a change may clear", () => {
  const flag = (operationId: string, field: string) => spec(operationId)?.flags.find((entry) => entry.field === field);
  expect(flag("profiles.list", "limit")).toMatchObject({ place: "query", kind: "integer", default: 20, required: false });
  expect(flag("profiles.update", "name")).toMatchObject({ place: "body", kind: "string", required: true, clearable: false });
  expect(flag("apiKeys.list", "status")).toMatchObject({ values: ["active", "deleted", "all"] });
  expect(flag("browsers.create", "tags")).toMatchObject({ kind: "map" });
  expect(flag("browsers.create", "name")).toMatchObject({ clearable: false });
  expect(flag("browsers.update", "name")).toMatchObject({ clearable: true });
  expect(flag("browsers.fs.watch.start", "recursive")).toMatchObject({ kind: "boolean" });
});

it("tells results apart", () => {
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

it("gives no command two flags alike, nor one that means something else on every command", () => {
  const { index, tables } = splitTable(table, groups, { version: "0.0.0", notYet: new Set() });
  const program = buildProgram(
    { index, load: (word) => tables[`of-${word}`] ?? [] },
    { terminal: silentTerminal(), env: {}, signal: new AbortController().signal },
  );
  // Commander refuses flags that are taken.
  program.fillAll();
  const globals = new Set(program.root.options.flatMap(({ long, short }) => [long, short]));
  const visit = (command: Command): number => {
    if (command.parent)
      for (const { long, short } of command.options)
        for (const flag of [long, short]) if (typeof flag === "string") expect(globals.has(flag), `${pathOf(command)} ${flag}`).toBe(false);
    return command.commands.reduce((count, child) => count + visit(child), 1);
  };
  expect(visit(program.root)).toBeGreaterThan(table.length);
});

/** Words of a command line as a shell would give them. */
function shellWords(line: string): string[] {
  return [...line.matchAll(/(?:[^\s'"]+|'[^']*'|"[^"]*")+/g)].map(([word]) => word.replaceAll(/['"]/g, ""));
}

it("shows examples whose flags there are", () => {
  const { index, tables } = splitTable(table, groups, { version: "0.0.0", notYet: new Set() });
  const program = buildProgram(
    { index, load: (word) => tables[`of-${word}`] ?? [] },
    { terminal: silentTerminal(), env: {}, signal: new AbortController().signal },
  );
  program.fillAll();
  const globals = new Set(program.root.options.map(({ long }) => long));
  const lines = [...Object.values(polish).flatMap(({ examples = [] }) => examples), ...Object.values(groups).flatMap(({ examples }) => examples)];
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
    }
  }
});

it("says texts in the words of the command line", () => {
  const described = (operationId: string, field: string) => spec(operationId)?.flags.find((entry) => entry.field === field)?.description;
  expect(described("browsers.create", "profile.id")).toContain("--profile-name");
  expect(spec("deployments.create")?.description).toContain("`shoal deployments follow`");
});
