import type { AssignInstance } from "@shoal/instance";
import {
  type Instance,
  type InstanceEnd,
  type Placement,
  PlacementError,
  type SessionFiles,
  type SessionSurroundings,
} from "@shoal/placement";
import { createId } from "@shoal/primitives";
import { mkdir, rm } from "node:fs/promises";
import { totalmem } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { FilesCopy, noSnapshots, ScriptedInstance } from "./scripted-instance.ts";

/** Sessions without browsers, in folders of this process. */
export class ScriptedPlacement implements Placement {
  readonly kind = "process";
  readonly abilities: Placement["abilities"] = {
    fullChromium: true,
    windows: true,
    privateHosts: true,
    authorities: true,
    policies: true,
    locales: "all",
    contexts: false,
    closedNetwork: true,
  };
  readonly memory: Placement["memory"] = { usualBytes: 4 * 2 ** 30, machineBytes: totalmem() };
  readonly sleep: Placement["sleep"] = { unableBecause: "The fake has no browser that could sleep.", pagesOut: false };
  readonly copiesProgramFiles = false;
  readonly #folder: string;
  readonly #instances = new Set<ScriptedInstance>();
  #isClosed = false;

  /** @param folder - of this placement alone; it creates and removes it. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  async acquire(
    assign: AssignInstance,
    signal?: AbortSignal,
    { copyOf, files }: SessionSurroundings = {},
  ): Promise<Instance> {
    if (this.#isClosed) throw new PlacementError("closed", "The fake is closed.");
    const profile = await readFiles(files);
    signal?.throwIfAborted();
    const id = createId();
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const instance = await ScriptedInstance.start({
      assign,
      copyOf: copyOf instanceof FilesCopy ? copyOf : undefined,
      profile,
      folder: join(this.#folder, id),
      socketPath:
        process.platform === "win32"
          ? String.raw`\\.\pipe\shoal-fake-${id}`
          : join(this.#folder, `${id.slice(0, 12)}.sock`),
    });
    this.#instances.add(instance);
    void instance.ended.then(() => this.#instances.delete(instance));
    return instance;
  }

  /** @returns whether a session with this id ran. */
  async end(sessionId: string, end: InstanceEnd): Promise<boolean> {
    const instance = [...this.#instances].find((one) => one.sessionId === sessionId);
    await instance?.endAs(end);
    return instance !== undefined;
  }

  copyNeeds(): Promise<never> {
    return Promise.reject(noSnapshots());
  }

  unpack(): Promise<never> {
    return Promise.reject(noSnapshots());
  }

  startProgram(): Promise<never> {
    return Promise.reject(new PlacementError("start_failed", "The fake starts no programs."));
  }

  traffic(): ReturnType<Placement["traffic"]> {
    return { sentBytes: 0, receivedBytes: 0, connections: 0, ended: { session: 0, project: 0, server: 0, idle: 0 } };
  }

  warm(): ReturnType<Placement["warm"]> {
    return { target: 0, ready: 0, starting: 0, hits: 0, misses: 0 };
  }

  warmReady(): Promise<void> {
    return Promise.resolve();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#instances].map((instance) => instance.stop()));
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** @returns the archive of the profile. Extensions are read and dropped. */
async function readFiles({ extensions = [], profile }: SessionFiles = {}): Promise<Buffer | undefined> {
  for (const open of extensions) await buffer((await open()).stream);
  return profile && buffer(await profile());
}
