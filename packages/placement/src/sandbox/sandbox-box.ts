import { hasCode } from "@shoal/primitives";
import type { Box, Dial, Exit, StoredBox, StoreWishes } from "../boxes/box.ts";
import type { InstanceFiles } from "../boxes/instance-files.ts";
import { writePolicies } from "../boxes/policies.ts";
import { addLocale } from "../boxes/locales.ts";
import { pinSocket } from "../boxes/pin-socket.ts";
import { SharedPlace } from "../boxes/shared-place.ts";
import type { EgressControls } from "../interface/egress.ts";
import type { BoxFreezer } from "../host/freezer.ts";
import type { MemoryGroup } from "../host/memory-groups.ts";
import type { ChromePolicies } from "../interface/placement.ts";
import { PlacementError } from "../interface/placement-error.ts";
import type { StreamedInstance } from "../remote/streamed-instance.ts";
import type { SandboxedProcess } from "./sandboxed-process.ts";
import { unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path/posix";
import type { Readable } from "node:stream";

interface SandboxBoxParts {
  readonly process: SandboxedProcess;
  readonly files: InstanceFiles;
  readonly memory: MemoryGroup | undefined;
  readonly freezer: BoxFreezer | undefined;
  /** Of the full browser; none without one. */
  readonly locales: Parameters<typeof addLocale>[2] | undefined;
  readonly listenPath: string;
  readonly egressPath: string;
  /** Of a forkable box, which has no socket. */
  readonly streamed: StreamedInstance | undefined;
  readonly store: ((process: SandboxedProcess, wishes: StoreWishes) => Promise<StoredBox>) | undefined;
}

export class SandboxBox implements Box {
  readonly id: string;
  readonly pid: number;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly gone: Promise<Exit>;
  readonly egress: EgressControls;
  /** The kernel ends all processes of a box together. */
  readonly asksToEnd = false;
  readonly freezer: BoxFreezer | undefined;
  readonly #parts: SandboxBoxParts;

  constructor(id: string, parts: SandboxBoxParts) {
    const { process } = parts;
    this.id = id;
    this.pid = process.pid;
    this.stdout = parts.streamed?.stdout ?? process.pipes.stdout;
    this.stderr = process.pipes.stderr;
    this.gone = process.gone.finally(() => {
      parts.streamed?.close();
    });
    this.freezer = parts.freezer;
    this.egress = parts.files.egress;
    this.#parts = parts;
  }

  kill(): void {
    this.#parts.process.kill();
    try {
      // A frozen process ends only after it continues.
      this.freezer?.thaw();
    } catch {
      // The group is being removed.
    }
  }

  async reach(): Promise<string | Dial> {
    const { files, listenPath, process, streamed } = this.#parts;
    if (streamed !== undefined) return streamed.reach();
    await process.reported;
    // Nothing else has run yet. Without a name, no process in the box can connect to the socket.
    const socket = this.#outside(listenPath);
    const pinned = files.pinSocket(socket);
    await unlink(socket);
    return pinned;
  }

  letOut(): void {
    this.#parts.streamed?.letOut();
  }

  store(wishes: StoreWishes): Promise<StoredBox> {
    const { process, store } = this.#parts;
    if (store === undefined)
      return Promise.reject(new PlacementError("bad_option", "This session was not created as forkable."));
    return store(process, wishes);
  }

  async openShared(id: string): Promise<SharedPlace> {
    const { files, listenPath, egressPath } = this.#parts;
    const paths = {
      listenPath: join(dirname(listenPath), `${id}.sock`),
      egressPath: join(dirname(egressPath), `${id}.out`),
    };
    return new SharedPlace({
      paths,
      door: await files.openDoor(basename(paths.egressPath)),
      findSocket: async () => {
        const socket = this.#outside(paths.listenPath);
        const pinned = pinSocket(socket);
        await unlink(socket);
        return pinned;
      },
    });
  }

  #outside(path: string): string {
    return `/proc/${String(this.#parts.process.firstInside)}/root${path}`;
  }

  setPolicies(policies: ChromePolicies): Promise<string> {
    return writePolicies(this.#parts.files, policies);
  }

  async setLocale(locale: string): Promise<void> {
    const { files, locales } = this.#parts;
    if (locales !== undefined) await addLocale(files, locale, locales);
  }

  async setMemory(bytes: number): Promise<void> {
    const { memory } = this.#parts;
    if (memory === undefined)
      throw new PlacementError(
        "bad_option",
        "memory: this process may not create control groups, so it cannot limit the memory of a session.",
      );
    try {
      await memory.setLimit(bytes);
    } catch (error) {
      if (hasCode(error, "ENOENT"))
        throw new PlacementError("instance_lost", `Instance ${this.id} has ended.`, { cause: error });
      throw new PlacementError(
        "start_failed",
        `The kernel refuses to limit the memory of an instance to ${String(bytes)} bytes: ${String(error)}.`,
        { cause: error },
      );
    }
  }

  async clear(): Promise<void> {
    const { files, freezer, memory } = this.#parts;
    await Promise.all([files.clear(), freezer?.remove(), memory?.remove()]);
  }
}
