import { contract } from "@shoal/contract";
import document from "@shoal/contract/openapi.json" with { type: "json" };
import { expect, it } from "vitest";
import { commandWords } from "./command-line.ts";
import { commandTable, type OpenApiDocument } from "./command-table.ts";
import { polish } from "./polish.ts";

const table = commandTable(document as unknown as OpenApiDocument);
const spec = (operationId: string) => table.find((entry) => entry.operationId === operationId);

it("has a command for every operation of the contract, each under words of its own", () => {
  expect(table.map(({ operationId }) => operationId).sort()).toEqual(Object.values(contract).map(({ operationId }) => operationId).sort());
  const words = table.map(({ operationId }) => commandWords(operationId).join(" "));
  expect(new Set(words).size).toBe(words.length);
});

it("polishes no operation that does not exist, and gives every one an example that begins with its words", () => {
  for (const operationId of Object.keys(polish)) expect(spec(operationId), operationId).toBeDefined();
  const files = ["read-file", "write-file", "upload", "upload-zip", "download-dir-zip"];
  for (const { operationId } of table) {
    const words = commandWords(operationId);
    if (files.includes(words.at(-1) ?? "")) continue;
    expect(polish[operationId]?.examples?.some((line) => line.includes(`shoal ${words.join(" ")}`)), operationId).toBe(true);
  }
});

it("polishes fields that the operation has", () => {
  for (const [operationId, { arguments: positional = [], flags = {} }] of Object.entries(polish)) {
    const fields = spec(operationId)?.flags.map(({ field }) => field);
    for (const field of [...positional, ...Object.keys(flags)]) expect(fields, `${operationId} ${field}`).toContain(field);
  }
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
  expect(Object.fromEntries(["profiles.get", "profiles.list", "profiles.delete", "browsers.fs.readFile", "browsers.fs.watch.events"].map((id) => [id, spec(id)?.result]))).toEqual({
    "profiles.get": "json",
    "profiles.list": "page",
    "profiles.delete": "empty",
    "browsers.fs.readFile": "bytes",
    "browsers.fs.watch.events": "events",
  });
});
