// Writes every generated file of the repository. With `--check` it only compares, and names stale files.
// Usage: npm run generate
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

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
];

const isCheck = process.argv.includes("--check");
const folder = dirname(fileURLToPath(import.meta.url));
for (const tool of generators) {
  const { status } = spawnSync(
    process.execPath,
    ["--conditions=@shoal/source", join(folder, tool), ...(isCheck ? ["--check"] : [])],
    { stdio: "inherit" },
  );
  if (status === 0) continue;
  process.exitCode = 1;
  if (!isCheck) break;
}
