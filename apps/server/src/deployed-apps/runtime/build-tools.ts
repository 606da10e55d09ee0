import type { ProgramFolder } from "@shoal/placement";
import { KeyedMutex } from "@shoal/primitives";
import { createHash } from "node:crypto";
import { access, mkdir, readdir, readFile, realpath, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Readable } from "node:stream";
import * as z from "zod/mini";
import { removedPrefix, removeWhole, unpackInBox } from "./artifact-folders.ts";
import { BuildError } from "./app-runtime.ts";
import { proxyVariables } from "./box-layout.ts";
import type { BoxTasks } from "./box-tasks.ts";
import type { RegistryDoor } from "../registry/registry-door.ts";
import type { Registry } from "./registry.ts";

/** Read lockfiles of version 9, and of npm 7 and newer. */
const pinned = {
  npm: {
    version: "11.21.2",
    integrity: "sha512-7HPApk+AflMUavSseL1Pm6CnYqMIHk53x+KmuhqmTDqPkjPMgxIpTPcTqsE91EKNw4gFBJV9fnXiSdGm1DXq9A==",
  },
  pnpm: {
    version: "10.34.8",
    integrity: "sha512-9ieo6XE0Ov5J39D2PQKCNCAd+oMdXLWIcz4eX42ya/FpiaMhYatcG02zsf28NzFgYGtbieAC323RmoWt+R/FqA==",
  },
} as const;

const maxToolBytes = 64 * 2 ** 20;
const maxMetadataBytes = 2 ** 20;
/** Projects can name other versions of pnpm. Beyond this number, versions are deleted, after the longest time without a build first. */
const keptTools = 8;
const limits = { bytes: 256 * 2 ** 20, files: 20_000 } as const;

const VersionMetadata = z.object({ dist: z.object({ integrity: z.string().check(z.regex(/^sha512-[\w+/=]{88}$/)) }) });

/** Stays in its folder until it is disposed. */
export interface BuildTool extends Disposable {
  readonly files: Pick<ProgramFolder, "from" | "isArchive">;
  /** Relative to its folder; the first existing script runs. */
  readonly scripts: readonly string[];
  /** Part of the key of cached dependencies. */
  readonly name: string;
}

export interface BuildToolsOptions {
  readonly folder: string;
  readonly tasks: BoxTasks;
  readonly registry: Registry;
  readonly door: Pick<RegistryDoor, "accept">;
  /** Keeps archives, which the boxes of builds unpack: they are on other machines. */
  readonly keepsArchives: boolean;
}

/** Package managers: npm of this Node, or pinned packages of the registry, checked and unpacked once. */
export class BuildTools {
  readonly #folder: string;
  readonly #tasks: BoxTasks;
  readonly #registry: Registry;
  readonly #door: Pick<RegistryDoor, "accept">;
  readonly #keepsArchives: boolean;
  readonly #turns = new KeyedMutex();
  /** Uses by the name in the folder. */
  readonly #uses = new Map<string, number>();

  constructor({ door, folder, keepsArchives, registry, tasks }: BuildToolsOptions) {
    this.#folder = folder;
    this.#tasks = tasks;
    this.#registry = registry;
    this.#door = door;
    this.#keepsArchives = keepsArchives;
  }

  /** @throws {BuildError} when the registry does not have it or cannot be reached. */
  async get(tool: "npm" | "pnpm", version: string | undefined, signal: AbortSignal): Promise<BuildTool> {
    if (tool === "npm") {
      const bundled = await bundledNpm();
      if (bundled !== undefined)
        return {
          files: { from: bundled },
          scripts: ["bin/npm-cli.js"],
          name: "npm",
          [Symbol.dispose]: () => undefined,
        };
    }
    const wanted = version ?? pinned[tool].version;
    const name = `${tool}-${wanted}`;
    const from = join(this.#folder, this.#keepsArchives ? `${name}.tgz` : name);
    using use = this.#use(basename(from));
    await this.#turns.run(name, async () => {
      if (!(await exists(from))) await this.#fetch(tool, wanted, { to: from, signal });
      const now = new Date();
      await utimes(from, now, now);
    });
    const kept = use.move();
    const scripts = tool === "npm" ? ["bin/npm-cli.js"] : ["bin/pnpm.cjs", "bin/pnpm.mjs"];
    return {
      files: { from, isArchive: this.#keepsArchives },
      scripts: scripts.map((path) => `package/${path}`),
      name,
      [Symbol.dispose]: () => {
        kept.dispose();
      },
    };
  }

  #use(name: string): DisposableStack {
    this.#uses.set(name, (this.#uses.get(name) ?? 0) + 1);
    const stack = new DisposableStack();
    stack.defer(() => {
      const left = (this.#uses.get(name) ?? 1) - 1;
      if (left === 0) this.#uses.delete(name);
      else this.#uses.set(name, left);
    });
    return stack;
  }

  async #fetch(
    tool: "npm" | "pnpm",
    version: string,
    { to, signal }: { readonly to: string; readonly signal: AbortSignal },
  ): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await this.#evict();
    const fresh = join(this.#folder, `.new-${tool}-${version}`);
    const archive = `${fresh}.tgz`;
    await Promise.all([fresh, archive].map((path) => rm(path, { recursive: true, force: true })));
    try {
      const integrity = await this.#integrityOf(tool, version, signal);
      const content = await this.#download(`${tool}/-/${tool}-${version}.tgz`, maxToolBytes, signal);
      if (`sha512-${createHash("sha512").update(content).digest("base64")}` !== integrity)
        throw new BuildError(`${tool} ${version} of the registry does not match its checksum.`);
      await writeFile(archive, content, { mode: 0o644 });
      if (!this.#keepsArchives) await unpackInBox(this.#tasks, { archive, to: fresh, limits }, signal);
      await rename(this.#keepsArchives ? archive : fresh, to);
    } finally {
      await Promise.all([fresh, archive].map((path) => rm(path, { recursive: true, force: true })));
    }
  }

  async #integrityOf(tool: "npm" | "pnpm", version: string, signal: AbortSignal): Promise<string> {
    if (version === pinned[tool].version) return pinned[tool].integrity;
    const text = (await this.#download(`${tool}/${version}`, maxMetadataBytes, signal)).toString("utf8");
    const parsed = VersionMetadata.safeParse(safeJson(text));
    if (!parsed.success) throw new BuildError(`The registry has no checksum of ${tool} ${version}.`);
    return parsed.data.dist.integrity;
  }

  async #download(path: string, maxBytes: number, signal: AbortSignal): Promise<Buffer> {
    const parts: Buffer[] = [];
    const registry = this.#registry;
    await this.#tasks.run(
      {
        program: {
          project: "",
          readOnly: registry.binds,
          writable: [],
          scratch: [],
          folder: "/tmp",
          reach: registry.hosts,
          onApiConnection: this.#door.accept,
          memoryBytes: 512 * 2 ** 20,
          diskBytes: 16 * 2 ** 20,
          maxProcesses: 64,
        },
        env: (place) => ({
          ...proxyVariables(place),
          ...registry.directVariables(),
          ...registry.authorityVariables(place),
        }),
        task: (place) => ({
          type: "fetch",
          forward: [...place.forward],
          url: `${registry.urlIn(place)}${path}`,
          max_bytes: maxBytes,
        }),
        files: {
          fetched: async (content: Readable) => {
            for await (const chunk of content) parts.push(chunk as Buffer);
          },
        },
      },
      signal,
    );
    return Buffer.concat(parts);
  }

  async #evict(): Promise<void> {
    const standard = `pnpm-${pinned.pnpm.version}`;
    const present = await readdir(this.#folder);
    // Of a service that was killed meanwhile.
    for (const name of present)
      if (name.startsWith(removedPrefix)) await rm(join(this.#folder, name), { recursive: true, force: true });
    const names = present.filter((name) => name.startsWith("pnpm-") && name !== standard && name !== `${standard}.tgz`);
    const idle = names.filter((name) => !this.#uses.has(name));
    const usedMs = async (name: string) =>
      (await stat(join(this.#folder, name)).catch(() => undefined))?.mtimeMs ?? Infinity;
    const found = await Promise.all(idle.map(async (name) => ({ name, at: await usedMs(name) })));
    const surplus = found.toSorted((one, other) => one.at - other.at).slice(0, Math.max(0, names.length - keptTools));
    for (const { name } of surplus)
      await this.#turns.run(basename(name, ".tgz"), async () => {
        // A build may have begun to use it meanwhile.
        if (!this.#uses.has(name)) await removeWhole(this.#folder, name);
      });
  }
}

function safeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function bundledNpm(): Promise<string | undefined> {
  const folder = join(dirname(await realpath(process.execPath)), "../lib/node_modules/npm");
  return readFile(join(folder, "bin/npm-cli.js")).then(
    () => folder,
    () => undefined,
  );
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
