// Compares openapi.json with the structure of the wire reference: every operation, and ranges, lengths, patterns and required fields in both
// directions. tools/wire-differences.json has the reason for each intended difference; an entry without a difference fails too.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compareDocuments } from "./wire/compare-documents.mjs";
import { reviewDifferences } from "./wire/review-differences.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const read = (/** @type {string} */ path) => JSON.parse(readFileSync(join(root, path), "utf8"));

const reference = read("apps/e2e/reference/reference.openapi.json");
const { differences, found, wanted } = compareDocuments(reference, read("packages/contract/openapi.json"));
const { idle, kept, unexplained, unreasoned } = reviewDifferences(differences, read("tools/wire-differences.json"));
for (const line of unexplained) console.error(`  ${line}`);
for (const line of idle) console.error(`  tools/wire-differences.json has an entry without a difference: ${line}`);
for (const line of unreasoned) console.error(`  tools/wire-differences.json has no reason for: ${line}`);
console.log(`operations ${found}/${wanted}, differences ${unexplained.length}, kept on purpose ${kept}`);
process.exit(unexplained.length + idle.length + unreasoned.length > 0 || found !== wanted ? 1 : 0);
