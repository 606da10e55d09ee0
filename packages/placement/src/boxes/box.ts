import type { BrowserViewport } from "@shoal/schemas";
import type { EgressControls } from "../interface/egress.ts";
import type { BoxFreezer } from "../host/freezer.ts";
import type { ChromePolicies, CopyNeeds, PackedCopy, PlacementKind, UnpackWishes } from "../interface/placement.ts";
import type { ProgramOptions } from "../interface/program.ts";
import type { ProgramFiles } from "./program-files.ts";
import type { SharedPlace } from "./shared-place.ts";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** One sentence, if the box was ended from outside or never ran. */
  readonly reason?: string | undefined;
  /** Whether it never ran because its cluster has no room for it. */
  readonly lacksCapacity?: boolean;
}

export type Viewport = Pick<BrowserViewport, "width" | "height">;

/** Opens a connection to the instance program. */
export type Dial = () => Promise<Socket>;

export interface Box {
  readonly id: string;
  /** `undefined` on another machine. */
  readonly pid: number | undefined;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when all its processes have ended. Never rejects. */
  readonly gone: Promise<Exit>;
  readonly egress: EgressControls;
  /** Whether to request the end before killing, because children of the program may survive it. */
  readonly asksToEnd: boolean;
  /** Absent if its processes cannot be frozen. */
  readonly freezer?: BoxFreezer | undefined;
  /**
   * Call it when the program listens. A path keeps naming the same socket, even if the box changes its directory.
   * @throws if it is not a socket.
   */
  reach(): Promise<string | Dial>;
  /** Adds the sockets of one more session. Absent if sessions cannot share a box of this kind. */
  openShared?(id: string): Promise<SharedPlace>;
  setPolicies(policies: ChromePolicies): Promise<string>;
  /** Opens the way out of a copy, whose pages may send requests before its settings are in force. */
  letOut?(): void;
  /** Stores its processes and files, for copies. Absent if it is not forkable. @throws {PlacementError} */
  store?(wishes: StoreWishes): Promise<StoredBox>;
  /** Makes a locale usable for the browser. Absent if only installed ones are. */
  setLocale?(locale: string): Promise<void>;
  setMemory(bytes: number): Promise<void>;
  /** `gone` resolves afterwards. May be called again. */
  kill(): void;
  /** Removes files and sockets; call it after `gone`. */
  clear(): Promise<void>;
}

export interface StoreWishes {
  /** Its boxes are stored one after another, and delay those of other projects little. */
  readonly project: string;
  readonly signal?: AbortSignal | undefined;
}

/** What a box was at one moment. */
export interface StoredBox {
  /** For which the box did not run. */
  readonly pausedMs: number;
  /** Starts a copy with separate files, connections and keys. @throws if it cannot be started; removes its files. */
  start(id: string, signal?: AbortSignal): Promise<Box>;
  pack(): Promise<PackedCopy>;
  /** Call it after the last start. */
  drop(): Promise<void>;
}

export interface BoxWishes {
  /** Only for a maker that has no {@link BoxMaker.unforkableBecause}. */
  readonly forkable?: boolean;
  /** Ends a start that takes long. Makers may finish it first. */
  readonly signal?: AbortSignal;
}

/** A box on another machine that hosts a program of an app, in place of an instance. */
export interface HostedProgram {
  /** Removed with the box. */
  readonly files: ProgramFiles;
  /** Folders for copies, limited by the memory alone. */
  readonly copies: readonly string[];
  readonly options: Pick<ProgramOptions, "diskBytes" | "maxProcesses" | "memoryBytes" | "scratch">;
}

export interface BoxMaker {
  readonly kind: PlacementKind;
  /** One sentence; absent if its boxes can be copied while they run. */
  readonly unforkableBecause?: string | undefined;
  /** For packed copies. Absent, as {@link BoxMaker.unpack}, if its boxes cannot be copied. */
  copyNeeds?(): Promise<CopyNeeds>;
  unpack?(open: () => Promise<PackedCopy>, wishes: UnpackWishes): Promise<StoredBox>;
  /** @throws if the box cannot be started; removes its files. */
  start(id: string, viewport: Viewport, wishes?: BoxWishes): Promise<Box>;
  /** Absent on this machine. @throws if the box cannot be started; its files remain, so that another machine may start it. */
  host?(id: string, program: HostedProgram): Promise<Box>;
}
