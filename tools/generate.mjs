// Writes every generated file of the repository. With `--check` it only compares, and names stale files.
// Usage: npm run generate
import { onSources } from "./generated-file.mjs";

/** In this order: later ones read what earlier ones write. `npm run check` compares the same list. */
const generators = [
  "openapi.mjs",
  "operations.mjs",
  "rights.mjs",
  "error-codes.mjs",
  "settings.mjs",
  "commands.mjs",
  "agent-files.mjs",
  "decisions.mjs",
  "folders.mjs",
  "clients.mjs",
];

onSources(import.meta.url);
// In one process: most of the time is the loading of the contract, which all of them use.
for (const tool of generators) await import(`./${tool}`);
