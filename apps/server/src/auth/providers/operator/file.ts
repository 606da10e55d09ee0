import { constants } from "node:fs";
import { open, readdir, realpath } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { parse as parseYaml } from "yaml";
import {
  type CredentialProvider,
  type ItemReference,
  maxItems,
  type ProviderItem,
  type ProviderValues,
  type ProviderVault,
} from "../interface/credential-provider.ts";
import { ProviderFailure } from "../interface/provider-failure.ts";
import { itemOf, urlsOf, valuesOf } from "../stores/login-values.ts";

const vault: ProviderVault = { id: "files", name: "files" };
const extensions: ReadonlySet<string> = new Set([".json", ".yaml", ".yml"]);
const maxFileBytes = 64 * 1024;
const maxDepth = 5;

type Fields = Readonly<Record<string, unknown>>;

/** Reads JSON and YAML files below a folder: `shop.yaml` is the item `files/shop`. */
class FileProvider implements CredentialProvider {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async test(): Promise<readonly ProviderVault[]> {
    await this.#root();
    return [vault];
  }

  async items(signal: AbortSignal): Promise<readonly ProviderItem[]> {
    const found: ProviderItem[] = [];
    for (const [path, [file = "", ...others]] of await this.#paths(signal)) {
      signal.throwIfAborted();
      // The sites of one file must not be used for the values of another.
      if (others.length > 0) continue;
      const fields = await this.#read(file).catch((error: unknown) => {
        // One bad file must not hide the others; reading it reports the problem.
        if (error instanceof ProviderFailure) return {};
        throw error;
      });
      found.push(itemOf(vault, { id: path, path, urls: urlsOf(fields) }));
    }
    return found;
  }

  async read({ path }: ItemReference, signal: AbortSignal): Promise<ProviderValues | undefined> {
    const prefix = `${vault.name}/`;
    if (!path.startsWith(prefix)) return undefined;
    const wanted = path.slice(prefix.length);
    const files = (await this.#paths(signal)).get(wanted) ?? [];
    if (files.length > 1) throw new ProviderFailure(`${files.join(" and ")} have the same path. Rename one.`);
    return files[0] === undefined ? undefined : valuesOf(await this.#read(files[0]));
  }

  /** `shop.json` and `shop.yaml` have the same path. */
  async #paths(signal: AbortSignal): Promise<Map<string, string[]>> {
    const files = await this.#files(await this.#root(), signal);
    return Map.groupBy(files, (file) => file.slice(0, -extname(file).length));
  }

  async #root(): Promise<string> {
    try {
      return await realpath(this.#folder);
    } catch (error) {
      throw new ProviderFailure("The folder of credential_files does not exist.", { cause: error });
    }
  }

  /** Relative paths with slashes. Links are ignored: they may lead out of the folder. */
  async #files(root: string, signal: AbortSignal): Promise<string[]> {
    const found: string[] = [];
    let folders = [root];
    for (let depth = 0; depth < maxDepth && folders.length > 0; depth += 1) {
      const next: string[] = [];
      for (const folder of folders) {
        signal.throwIfAborted();
        for (const entry of await readdir(folder, { withFileTypes: true })) {
          const path = join(folder, entry.name);
          if (entry.isDirectory()) next.push(path);
          else if (entry.isFile() && extensions.has(extname(entry.name)) && found.length < maxItems)
            found.push(relative(root, path).split(sep).join("/"));
        }
      }
      folders = next;
    }
    return found.sort();
  }

  async #read(file: string): Promise<Fields> {
    const root = await this.#root();
    let handle;
    try {
      handle = await open(join(root, file), constants.O_RDONLY | constants.O_NOFOLLOW);
      const { mode, size } = await handle.stat();
      if ((mode & 0o077) !== 0)
        throw new ProviderFailure(`Other users may read ${file}; set its mode to 0600 (chmod 600).`);
      if (size > maxFileBytes) throw new ProviderFailure(`${file} is larger than ${String(maxFileBytes)} bytes.`);
      const parsed: unknown = parseYaml(await handle.readFile("utf8"), { maxAliasCount: 10, logLevel: "error" });
      if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return parsed as Fields;
    } catch (error) {
      if (error instanceof ProviderFailure) throw error;
      // A parser's message would quote the file.
    } finally {
      await handle?.close();
    }
    throw new ProviderFailure(`${file} is not a JSON or YAML file with one object, or it cannot be read.`);
  }
}

export function createFileProvider(folder: string): CredentialProvider {
  return new FileProvider(folder);
}
