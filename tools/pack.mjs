// Packs built packages like npm: node tools/pack.mjs DIR [NAME…] [--check]. Each comes with its dependencies in this repository;
// without names, the command and the service. With --check, it only refuses wrong arguments. `npm run pack` builds them first.
import { execFile } from "node:child_process";
import { globSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";

const run = promisify(execFile);

/**
 * @param {string} root
 * @returns {Map<string, { folder: string, needs: string[] }>} the published packages of a workspace by name, with
 * their dependencies among each other
 */
export function publishedPackages(root) {
  const manifests = globSync(["packages/*/package.json", "apps/*/package.json"], { cwd: root })
    .sort()
    .map((path) => ({ folder: dirname(path), ...JSON.parse(readFileSync(join(root, path), "utf8")) }))
    .filter((manifest) => manifest.private !== true);
  const names = new Set(manifests.map(({ name }) => name));
  return new Map(
    manifests.map(({ name, folder, dependencies = {} }) => [
      name,
      { folder, needs: Object.keys(dependencies).filter((need) => names.has(need)) },
    ]),
  );
}

/**
 * @param {ReturnType<typeof publishedPackages>} packages
 * @param {readonly string[]} wanted - short names, `client` for `@shoal/client`; none for all
 * @returns {string[]} the names with their dependencies, in publishing order
 */
export function inOrder(packages, wanted = []) {
  const ordered = new Set();
  const add = (name) => {
    for (const need of packages.get(name).needs) add(need);
    ordered.add(name);
  };
  for (const short of wanted) {
    if (!packages.has(`@shoal/${short}`))
      throw new Error(
        `Unknown package "${short}". The packages are ${[...packages.keys()].map((name) => name.replace("@shoal/", "")).join(", ")}.`,
      );
    add(`@shoal/${short}`);
  }
  if (wanted.length === 0) for (const name of packages.keys()) add(name);
  return [...ordered];
}

/** The tarball's name has no version, so that commands with it stay the same. */
export const tarballOf = (name) => `${name.replace("@", "").replace("/", "-")}.tgz`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = join(dirname(fileURLToPath(import.meta.url)), "..");
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { check: { type: "boolean" } } });
  const [given, ...wanted] = positionals;
  if (given === undefined) {
    console.error("Where to? npm run pack -- ../shoal-packages");
    process.exit(2);
  }
  const packages = publishedPackages(root);
  let names;
  try {
    names = inOrder(packages, wanted.length === 0 ? ["cli", "server"] : wanted);
  } catch (error) {
    console.error(error.message);
    process.exit(2);
  }
  if (values.check === true) process.exit(0);
  const folder = resolve(given);
  mkdirSync(folder, { recursive: true });
  const files = await Promise.all(
    names.map(async (name) => {
      const file = join(folder, tarballOf(name));
      await run("pnpm", ["pack", "--out", file], {
        cwd: join(root, packages.get(name).folder),
        shell: process.platform === "win32",
      });
      return file;
    }),
  );
  console.log(`npm install ${files.join(" ")}`);
}
