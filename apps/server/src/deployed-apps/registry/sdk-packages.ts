import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, sep } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { pack } from "tar-stream";

/** One package of the SDK, as a registry has it. */
export interface SdkPackage {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
  /** Without scripts, and with versions in place of links of the workspace. */
  readonly manifest: Readonly<Record<string, unknown>>;
  readonly tarball: Buffer;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly files?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** Like npm's packages: the content alone decides about the bytes. */
const mtime = new Date("1985-10-26T08:15:00.000Z");
const compress = promisify(gzip);
const require = createRequire(import.meta.url);

interface Folder {
  readonly path: string;
  readonly manifest: Manifest;
  /** Changes with each build of the package. */
  readonly built: number;
}

/** `@shoal/client` and its packages in the version that runs, packed at the first use. */
export class SdkPackages {
  #packed: { readonly key: string; readonly packages: Promise<readonly SdkPackage[]> } | undefined;

  async all(): Promise<readonly SdkPackage[]> {
    const folders = await findFolders();
    const key = folders.map(({ built }) => built).join();
    if (this.#packed?.key !== key) {
      const packed = { key, packages: packAll(folders) };
      this.#packed = packed;
      // The next use tries again.
      packed.packages.catch(() => {
        if (this.#packed === packed) this.#packed = undefined;
      });
    }
    return this.#packed.packages;
  }

  /** @param path - of npm's registry: `@shoal/client`, `@shoal%2fclient` or `@shoal/client/-/client-1.0.0.tgz` */
  async find(path: string): Promise<{ readonly package: SdkPackage; readonly isTarball: boolean } | undefined> {
    const [, name, file] = /^(@shoal(?:\/|%2f)[\w.-]+)(?:\/-\/([\w.+-]+))?$/i.exec(path) ?? [];
    const found = (await this.all()).find((each) => each.name === name?.replace(/%2f/i, "/"));
    if (found === undefined || (file !== undefined && file !== fileOf(found))) return undefined;
    return { package: found, isTarball: file !== undefined };
  }
}

/** The description of a package in npm's registry, of one version. @param registry - ends with a slash */
export function packumentOf({ integrity, manifest, name, version }: SdkPackage, registry: string) {
  const time = mtime.toISOString();
  return {
    name,
    "dist-tags": { latest: version },
    versions: {
      [version]: { ...manifest, dist: { integrity, tarball: `${registry}${name}/-/${fileOf({ name, version })}` } },
    },
    time: { created: time, modified: time, [version]: time },
  };
}

function fileOf({ name, version }: Pick<SdkPackage, "name" | "version">): string {
  return `${name.slice(name.indexOf("/") + 1)}-${version}.tgz`;
}

async function findFolders(): Promise<readonly Folder[]> {
  const found = new Map<string, Folder>();
  const add = async (name: string, from: string): Promise<void> => {
    if (found.has(name)) return;
    const file = createRequire(from).resolve(`${name}/package.json`);
    const path = dirname(file);
    const manifest = JSON.parse(await readFile(file, "utf8")) as Manifest;
    found.set(name, { path, manifest, built: (await stat(join(path, "dist"))).mtimeMs });
    for (const needed of Object.keys(manifest.dependencies ?? {}))
      if (needed.startsWith("@shoal/")) await add(needed, file);
  };
  await add("@shoal/client", require.resolve("@shoal/app-runner/package.json"));
  return [...found.values()];
}

function packAll(folders: readonly Folder[]): Promise<readonly SdkPackage[]> {
  const versions = new Map(folders.map(({ manifest }) => [manifest.name, manifest.version]));
  return Promise.all(folders.map((folder) => packOne(folder, versions)));
}

async function packOne(
  { manifest: { devDependencies: _dev, scripts: _scripts, ...manifest }, path: folder }: Folder,
  versions: ReadonlyMap<string, string>,
): Promise<SdkPackage> {
  const dependencies = Object.fromEntries(
    Object.entries(manifest.dependencies ?? {}).map(([name, range]) => [
      name,
      range.startsWith("workspace:") ? `^${versions.get(name) ?? ""}` : range,
    ]),
  );
  const published = { ...manifest, dependencies };
  const archive = pack();
  archive.entry({ name: "package/package.json", mtime }, JSON.stringify(published, undefined, 2));
  for (const path of await filesOf(folder, manifest.files ?? []))
    archive.entry({ name: `package/${path}`, mtime }, await readFile(join(folder, path)));
  archive.finalize();
  const tarball = await compress(await buffer(archive));
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  return { name: manifest.name, version: manifest.version, integrity, manifest: published, tarball };
}

/** The built files. Sources only serve debuggers. */
async function filesOf(folder: string, patterns: readonly string[]): Promise<readonly string[]> {
  const wanted = new Set(["README.md", "LICENSE", ...patterns.filter((pattern) => pattern !== "src")]);
  const entries = await readdir(folder, { withFileTypes: true });
  const files: string[] = [];
  for (const entry of entries.filter(({ name }) => wanted.has(name))) {
    if (!entry.isDirectory()) files.push(entry.name);
    else
      for (const inside of await readdir(join(folder, entry.name), { recursive: true, withFileTypes: true }))
        if (inside.isFile() && inside.name !== ".tsbuildinfo")
          files.push(join(inside.parentPath, inside.name).slice(folder.length + 1));
  }
  return files.map((path) => path.replaceAll(sep, "/")).toSorted();
}
