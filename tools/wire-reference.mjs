// Copies the structure of the wire reference, which is next to the checkout, into the repository: schemas, parameters,
// bodies, answers, without prose and examples. With --check it fails if the copy is stale; without the reference it
// does nothing.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const reference = join(root, "../shared/wire/reference.openapi.json");
const copy = join(root, "apps/e2e/reference/reference.openapi.json");

const prose = new Set(["security", "tags", "description", "summary", "title", "example", "examples", "externalDocs"]);
/** Keywords whose keys are names, not keywords. */
const named = new Set([
  "callbacks",
  "content",
  "headers",
  "mapping",
  "paths",
  "properties",
  "requestBodies",
  "responses",
  "schemas",
  "securitySchemes",
]);
/** Keywords whose values are data, not schemas. */
const data = new Set(["const", "default", "enum"]);

/**
 * Returns a node without prose, with sorted keys. Lists keep their order: positions of path parameters carry meaning.
 * @param {unknown} node
 * @param {boolean} keysAreNames
 * @returns {unknown}
 */
function structureOf(node, keysAreNames = false) {
  if (Array.isArray(node)) return node.map((item) => structureOf(item));
  if (typeof node !== "object" || node === null) return node;
  return Object.fromEntries(
    Object.entries(node)
      .filter(([key]) => keysAreNames || !prose.has(key))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => [
        key,
        !keysAreNames && data.has(key) ? value : structureOf(value, !keysAreNames && named.has(key)),
      ]),
  );
}

if (!existsSync(reference)) {
  console.log("The copy of the wire reference was not compared: ../shared/wire/reference.openapi.json is missing.");
  process.exit(0);
}
const { components, openapi, paths } = JSON.parse(readFileSync(reference, "utf8"));
const { schemas, responses, parameters = {} } = components;
const info = { title: "Structure of the wire reference", version: "0" };
const lines = (/** @type {object} */ map) =>
  Object.entries(map)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(structureOf(value))}`)
    .join(",\n");
// One line for each schema and path, so that a change shows as the lines that changed.
const text = `{"openapi":${JSON.stringify(openapi)},"info":${JSON.stringify(info)},
"components":{"parameters":{
${lines(parameters)}
},"responses":{
${lines(responses)}
},"schemas":{
${lines(schemas)}
}},
"paths":{
${lines(paths)}
}}
`;
if (!process.argv.includes("--check")) writeFileSync(copy, text);
else if (!existsSync(copy) || readFileSync(copy, "utf8") !== text) {
  console.error("apps/e2e/reference/reference.openapi.json is stale: run node tools/wire-reference.mjs");
  process.exit(1);
}
