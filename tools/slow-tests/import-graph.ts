import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";

/** Every string that can be a path or a package, also in `new URL("./worker.ts", import.meta.url)`. */
const literal = /["'`]((?:\.{1,2}\/|@shoal\/)[^"'`\s$]*)["'`]/g;

interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

/**
 * Which files use which, by the strings in the sources: imports, files next to the module, and built programs. A path into
 * `dist` uses every source of its package, because tests start the built `shoal` and instance programs.
 */
export class ImportGraph {
  readonly #root: string;
  readonly #packages = new Map<string, { folder: string; manifest: Manifest; sources: string[] }>();
  readonly #usersOf = new Map<string, Set<string>>();

  constructor(root: string) {
    this.#root = root;
    for (const path of globSync("{packages,apps}/*/package.json", { cwd: root })) {
      const manifest = JSON.parse(readFileSync(join(root, path), "utf8")) as Manifest;
      const sources = globSync([`${dirname(path)}/src/**/*.{ts,tsx,mjs,css,html}`, `${dirname(path)}/build.mjs`], {
        cwd: root,
      });
      this.#packages.set(manifest.name, { folder: dirname(path), manifest, sources });
    }
    for (const { sources } of this.#packages.values()) for (const file of sources) this.#read(file);
    for (const file of globSync("tools/**/*.{ts,mjs}", { cwd: root })) this.#read(file);
  }

  /**
   * Returns the distance of each file to the nearest changed one: 0 if it changed, 1 if it imports a changed file.
   * Files that use no changed file are missing.
   */
  distancesFrom(changed: Iterable<string>): Map<string, number> {
    const distances = new Map<string, number>();
    let files = [...changed];
    for (let distance = 0; files.length > 0; distance++) {
      const fresh = files.filter((file) => !distances.has(file));
      for (const file of fresh) distances.set(file, distance);
      files = fresh.flatMap((file) => [...(this.#usersOf.get(file) ?? [])]);
    }
    return distances;
  }

  #read(file: string): void {
    const text = readFileSync(join(this.#root, file), "utf8");
    for (const [, target = ""] of text.matchAll(literal))
      for (const used of this.#resolve(file, target)) this.#add(used, file);
  }

  #add(used: string, user: string): void {
    const users = this.#usersOf.get(used) ?? new Set();
    this.#usersOf.set(used, users.add(user));
  }

  #resolve(from: string, target: string): readonly string[] {
    if (target.startsWith("@shoal/")) {
      const [scope = "", name = "", ...rest] = target.split("/");
      const entry = this.#packages.get(`${scope}/${name}`);
      if (entry === undefined) return [];
      const exported = entry.manifest.exports?.[rest.length === 0 ? "." : `./${rest.join("/")}`];
      const source = typeof exported === "object" ? exported["@shoal/source"] : exported;
      return source === undefined ? [] : [join(entry.folder, source)];
    }
    const path = relative(this.#root, resolve(this.#root, dirname(from), target))
      .split(sep)
      .join("/");
    const [area, name] = path.split("/");
    if (path.startsWith(`${area ?? ""}/${name ?? ""}/dist`))
      return [...this.#packages.values()].find(({ folder }) => folder === `${area ?? ""}/${name ?? ""}`)?.sources ?? [];
    const full = join(this.#root, path);
    return !path.startsWith("..") && existsSync(full) && statSync(full).isFile() ? [path] : [];
  }
}
