import type { AssignInstance, InstanceEvent } from "@shoal/instance";
import type { EgressLimits } from "./egress-connections.ts";
import type { EgressTraffic } from "./egress-gateway.ts";
import type { EgressUpstream } from "./egress-upstream.ts";
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";

/** `sandbox`: a bubblewrap box of its own for each instance (Linux). `process`: a plain process, which isolates nothing. */
export type PlacementKind = "sandbox" | "process";

/** Where a placement reports to; a pino logger fits. */
export interface PlacementLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Where sessions run, and what each may take. */
export interface PlacementOptions {
  /** `auto`: the sandbox where this host can make one, else `process`, with a warning that says why. */
  readonly kind: PlacementKind | "auto";
  /**
   * Directory on a local disk for the files of running sessions, made (mode 0700) when missing. Several servers of one host may share it. What one session
   * writes there is not limited; none is started when less than 256 MB is free.
   */
  readonly sessionsDir: string;
  /**
   * Memory that a sandboxed session may take, in bytes, browser and all: beyond it the kernel ends its largest process, most often a page. Holds where this process
   * may make control groups (as root, or below a delegated group); else there is a line in the log and no limit. None when absent.
   */
  readonly sessionMemoryBytes?: number;
  /**
   * Bytes that a sandboxed session may write: its files are then in memory, in a filesystem of that size with one file for each 8 KiB, and count towards
   * {@link sessionMemoryBytes}. On the disk and without such a bound when absent. The 512 MiB of shared memory of each box are not part of it.
   */
  readonly sessionDiskBytes?: number;
  /** Number of instances kept waiting, so that `acquire` takes milliseconds. Each costs the memory of an idle browser. */
  readonly warm: number;
  /** Path of the browser to run; searched for when absent, see {@link findChromium}. */
  readonly chromium?: string;
  /**
   * What pages may reach although it is private, loopback, link-local or otherwise not public: host names (`intranet.example`, `*.example`), addresses, ranges in
   * CIDR notation, each with an optional port (`10.0.0.0/8`, `localhost:3000`, `[::1]:3000`). Names hold for whatever they resolve to.
   */
  readonly allowPrivateHosts: readonly string[];
  /** Connections of sessions to the network, see {@link EgressLimits}; the usual limits where absent. */
  readonly egressLimits?: Partial<EgressLimits>;
  readonly log: PlacementLog;
}

/** What sessions can have here beyond a headless browser. */
export interface PlacementAbilities {
  /** A full Chromium, which extensions, policies, stealth and windows need. */
  readonly fullChromium: boolean;
  /** The X server that a browser with a window is shown on. */
  readonly windows: boolean;
  /** Whether the service allows any private host, so that sessions may have some of them. */
  readonly privateHosts: boolean;
  /** Authorities of a session's own: Linux and `certutil`, which writes what browsers read them from. */
  readonly authorities: boolean;
  /** Policies of a session's own. Chromium reads them at one place of the system, so that takes a box. */
  readonly policies: boolean;
}

/** What memory sessions can have here. */
export interface PlacementMemory {
  /** Bytes that a session may take which asks for nothing: its limit, or all that the machine has where nothing limits it. */
  readonly usualBytes: number;
  /** Bytes that the machine has, or the container that the service is in. */
  readonly machineBytes: number;
  /** Why no session can have a limit of its own, in one sentence; absent where each can. */
  readonly unlimitedBecause?: string;
}

/** Enterprise policies, by Chrome's names for them. */
export type ChromePolicies = Readonly<Record<string, unknown>>;

/** What a session has around its instance, from the first page on. */
export interface SessionSurroundings {
  /** Proxy server that its traffic leaves by; none when absent. */
  readonly upstream?: EgressUpstream | undefined;
  /** Policies that its browser finds when it is started; none when absent. */
  readonly policies?: ChromePolicies | undefined;
  /** Private hosts that its pages may reach, of those that the placement allows; all of them when absent, none when empty. Entries are like those of `allowPrivateHosts`. */
  readonly privateHosts?: readonly string[] | undefined;
  /** Bytes of memory that it may take, browser and all, instead of the usual limit; only where sessions can have a limit of their own, see {@link PlacementMemory}. */
  readonly memoryBytes?: number | undefined;
  /** Project whose limit of connections its connections count towards. */
  readonly project?: string | undefined;
}

/** Starts instances, hands them to sessions, and leaves nothing behind. */
export interface Placement {
  readonly kind: PlacementKind;
  readonly abilities: PlacementAbilities;
  readonly memory: PlacementMemory;
  /**
   * Hands an instance with a browser that answers to a session: a waiting one within milliseconds, else a new one.
   *
   * @param signal - gives up; nothing is left of an instance that was being started for this call.
   * @throws {PlacementError} `start_failed`, with the instance's last lines, when it is not ready within 30 s; `no_space`; `closed`; `bad_option`.
   */
  acquire(assign: AssignInstance, signal?: AbortSignal, surroundings?: SessionSurroundings): Promise<Instance>;
  /** What pages sent to and received from the network, all sessions together, since the start. */
  traffic(): EgressTraffic;
  /** Resolves when the configured number of instances waits; rejects when the placement is closed before. */
  warmReady(): Promise<void>;
  /** Ends every instance, handed over or waiting; resolves when nothing of them is left. */
  close(): Promise<void>;
}

/** Why an instance ended: its own reason, or `instance_lost` when it ended without saying one. */
export interface InstanceEnd {
  readonly reason: "timeout" | "browser_crashed" | "stopped" | "instance_lost";
  /** For people: exit code and last lines of the instance where it was lost. */
  readonly detail?: string;
}

/** A request to an instance, over its own socket. */
export interface InstanceRequest {
  readonly method: string;
  /** With its query, without `/browsers/{id}`. */
  readonly path: string;
  readonly headers?: OutgoingHttpHeaders;
  /** Ends the request and, once it is there, the answer. */
  readonly signal?: AbortSignal;
}

/** A running instance. */
export interface Instance {
  readonly id: string;
  /** Process id on this host; when that process is killed, all of the instance goes. */
  readonly pid: number;
  readonly kind: PlacementKind;
  /**
   * One HTTP request to the instance. Bodies stream both ways with back-pressure; the answer's body must be read or destroyed.
   *
   * @throws {PlacementError} `instance_lost` when no answer came.
   */
  request(init: InstanceRequest, body?: Readable | string): Promise<IncomingMessage>;
  /**
   * A raw connection, for upgrades.
   *
   * @throws {PlacementError} `instance_lost`.
   */
  connect(): Promise<Socket>;
  /**
   * Has its traffic leave by a proxy server from now on; `undefined` = from this host. The browser notices nothing but that connections it had open are ended.
   *
   * @throws {PlacementError} `bad_option` when the address cannot be read; nothing has changed then.
   */
  setUpstream(upstream: EgressUpstream | undefined): void;
  /** The proxy server that its traffic leaves by. */
  readonly upstream: EgressUpstream | undefined;
  /**
   * Sets the policies that its browser finds from now on; a running one has to be told to read them again (`POST /_instance/policies`).
   *
   * @returns their revision, hexadecimal: the instance knows by it when they hold.
   * @throws {PlacementError} `bad_option` where sessions have no policies of their own, see {@link PlacementAbilities}.
   */
  setPolicies(policies: ChromePolicies): Promise<string>;
  /** Calls `listener` for what the instance reports from now on, in order, never after `ended` resolved. Returns the way to stop it. */
  onEvent(listener: (event: InstanceEvent) => void): () => void;
  /** Resolves, and never rejects, when the instance and all in it are gone: processes, sockets, files. */
  readonly ended: Promise<InstanceEnd>;
  /** Ends the instance; may be called again. Resolves with `ended`. */
  stop(): Promise<void>;
}
