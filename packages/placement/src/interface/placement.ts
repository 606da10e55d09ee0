import type { AssignInstance, InstanceEvent } from "@shoal/instance";
import type {
  EgressLimits,
  EgressProxyRoute,
  EgressRules,
  EgressTraffic,
  EgressUpstream,
  ExitHeaders,
  RuleSource,
  RequestSigner,
  TransferredBytes,
} from "./egress.ts";
import type { PlacementLog } from "./placement-log.ts";
import type { ProgramBox, ProgramOptions } from "./program.ts";
import type { InstanceSleep, PlacementSleep } from "./sleep.ts";
import type { SessionFiles } from "./session-files.ts";
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";

/**
 * `sandbox`: a bubblewrap box per instance (Linux). `docker`: a container per instance, of Docker or Podman on one
 * or several machines. `kubernetes`: a pod per instance. `process`: a plain process, without isolation.
 */
export type PlacementKind = "sandbox" | "docker" | "kubernetes" | "process";

export interface DockerOptions {
  /** Engines: a socket of this machine, `unix:///run/podman/podman.sock`, or an address with TLS, `tcp://10.0.0.5:2376`. */
  readonly hosts: readonly string[];
  /** Folder with `ca.pem`, `cert.pem` and `key.pem`, for engines with TLS. */
  readonly tlsDir?: string | undefined;
  /** Of Shoal's Dockerfile. */
  readonly image: string;
}

export interface KubernetesOptions {
  /** Of Shoal's Dockerfile, in the version of this server. */
  readonly image: string;
  /** By default the namespace of the kubeconfig, or of the server's pod. */
  readonly namespace?: string | undefined;
  /** For micro virtual machines, such as `kata`. */
  readonly runtimeClass?: string | undefined;
  /** A SandboxWarmPool of agent-sandbox, for a claim per session. By default a Sandbox each, or a pod without agent-sandbox. */
  readonly warmPool?: string | undefined;
  /** `NAME/UID` of the pod of this server, in the same namespace. The cluster deletes objects of its sessions after it. */
  readonly serverPod?: string | undefined;
  /** By default `KUBECONFIG`, `~/.kube/config`, or the service account of the server's pod. */
  readonly kubeconfig?: string | undefined;
}

export interface PlacementOptions {
  /** `auto`: the sandbox if this host supports it, else `process` with a warning. */
  readonly kind: PlacementKind | "auto";
  /** Local; created with mode 0700 if missing. Servers of one host may share it. Sessions need 256 MB of free space. */
  readonly sessionsDir: string;
  /**
   * Bytes per sandboxed session, including its browser; unlimited by default. Above it the kernel kills the largest
   * process, usually a page. Unlimited without the right to create control groups (root, or a delegated group).
   */
  readonly sessionMemoryBytes?: number;
  /** Bytes of an in-memory filesystem per session (one file per 8 KiB), within {@link sessionMemoryBytes}. */
  readonly sessionDiskBytes?: number;
  /** Instances that wait, each with an idle browser, so that `acquire` takes milliseconds. */
  readonly warm: number | AutoWarm;
  readonly chromium?: string;
  /**
   * Hosts that pages may reach although they are private: names (`*.example`), addresses and CIDR ranges, each with an
   * optional port (`10.0.0.0/8`, `[::1]:3000`). A name allows all its addresses.
   */
  readonly allowPrivateHosts: readonly string[];
  /** Addresses of the other servers of the installation: private, like all addresses of this machine. */
  readonly otherServers?: () => Iterable<string>;
  readonly egressLimits?: Partial<EgressLimits>;
  /** By which this machine reaches the internet. Sessions without a proxy, and builds and apps, use it for hosts that are not private. */
  readonly egressProxy?: EgressUpstream | undefined;
  /** Only for the kind `docker`, which needs them. */
  readonly docker?: DockerOptions;
  /** Only for the kind `kubernetes`, which needs it. */
  readonly kubernetes?: KubernetesOptions;
  readonly log: PlacementLog;
}

/** As many as sessions are created in the time of a refill, at least one, within the free memory and CPU. */
export interface AutoWarm {
  readonly max: number;
}

/** Waiting instances; `hits` and `misses` count `acquire` since the start. */
export interface WarmInstances {
  readonly target: number;
  readonly ready: number;
  /** Also for callers that wait. */
  readonly starting: number;
  readonly hits: number;
  readonly misses: number;
}

export interface PlacementAbilities {
  /** For extensions, policies, stealth and windows. */
  readonly fullChromium: boolean;
  readonly windows: boolean;
  readonly privateHosts: boolean;
  /** Needs Linux and `certutil`. */
  readonly authorities: boolean;
  /** Needs a box, because Chromium reads policies from a system folder. */
  readonly policies: boolean;
  /** Locales of a full Chromium, in addition to `en-US`. */
  readonly locales: readonly string[] | "all";
  /** Sessions of a project can share a browser. */
  readonly contexts: boolean;
  /** Nothing in a session can bypass the egress gateway. */
  readonly closedNetwork: boolean;
}

export interface PlacementMemory {
  /** Default of a session, or the machine's memory without a limit. */
  readonly usualBytes: number;
  /** Of the machine, or of the service's container. */
  readonly machineBytes: number;
  /** One sentence; absent if sessions can set a limit. */
  readonly unlimitedBecause?: string;
}

export type ChromePolicies = Readonly<Record<string, unknown>>;

export interface SessionSurroundings {
  readonly upstream?: EgressUpstream | undefined;
  readonly policies?: ChromePolicies | undefined;
  /** Of the assignment. */
  readonly locale?: string | undefined;
  /** A subset of `allowPrivateHosts`; all by default, none if empty. */
  readonly privateHosts?: readonly string[] | undefined;
  /** Including its browser; only where {@link PlacementMemory} allows a limit. */
  readonly memoryBytes?: number | undefined;
  readonly project?: string | undefined;
  readonly rules?: Readonly<Partial<Record<RuleSource, EgressRules | undefined>>>;
  readonly proxyRoutes?: readonly EgressProxyRoute[] | undefined;
  readonly signer?: RequestSigner | undefined;
  /** The assignment must make the browser trust their authority. */
  readonly exitHeaders?: ExitHeaders | undefined;
  readonly files?: SessionFiles | undefined;
  /** `context`: the session gets a browser context in a browser that it shares with others of its project. */
  readonly isolation?: "context" | undefined;
  /** Only for a placement without {@link Placement.unforkableBecause}. Starts a new instance, without an inner sandbox. */
  readonly forkable?: boolean | undefined;
  /** Starts from this copy. The assignment must not change its browser. */
  readonly copyOf?: InstanceCopy | undefined;
}

/** A forkable instance at one moment. */
export interface InstanceCopy {
  /** For which the instance did not run. */
  readonly pausedMs: number;
  /** Call it after the last instance has started from it. */
  drop(): Promise<void>;
  /** For {@link Placement.unpack}, also of a later run of this service. Drop the copy after the archive is read. */
  pack(): Promise<PackedCopy>;
}

/** A copy of an instance as bytes. They contain all its secrets, and CRIU trusts them: keep them encrypted and authenticated. */
export interface PackedCopy {
  /** Read or destroy it. */
  readonly archive: Readable;
  /** When it is unpacked. */
  readonly bytes: number;
}

export interface UnpackWishes {
  readonly project: string;
  readonly signal: AbortSignal;
}

/** Facts of a machine that must be equal where a packed copy was made and where it starts, by their names. */
export type CopyNeeds = Readonly<Record<string, string>>;

export interface Placement {
  readonly kind: PlacementKind;
  readonly abilities: PlacementAbilities;
  readonly memory: PlacementMemory;
  readonly sleep: PlacementSleep;
  /** One sentence; absent if sessions can be copied while they run. */
  readonly unforkableBecause?: string | undefined;
  /** Programs run on other machines, and get copies of their files. */
  readonly copiesProgramFiles: boolean;
  /** Of this placement now: an upgrade of the browser changes them. @throws {PlacementError} `bad_option` if it cannot copy. */
  copyNeeds(): Promise<CopyNeeds>;
  /**
   * Copies of one project are unpacked one after another. @param open - is called when it is the turn of this one.
   * @throws {PlacementError} `bad_option`, `no_space`, `no_capacity`, `closed`. @throws errors of the archive.
   */
  unpack(open: () => Promise<PackedCopy>, wishes: UnpackWishes): Promise<InstanceCopy>;
  /**
   * Hands a warm instance to a session, else a new one. Aborting also ends an instance that starts for this call.
   * @throws {PlacementError} `start_failed` if it is not ready within 30 s; `no_space`; `closed`; `bad_option`.
   * @throws {InstanceRefusal} if the browser cannot start as required, or rejects a file. @throws errors of the files.
   */
  acquire(assign: AssignInstance, signal?: AbortSignal, surroundings?: SessionSurroundings): Promise<Instance>;
  /**
   * Without a browser. Aborting also ends a program that starts for this call.
   * @throws {PlacementError} `start_failed`, `no_space`, `closed`, `bad_option`.
   */
  startProgram(options: ProgramOptions, signal?: AbortSignal): Promise<ProgramBox>;
  traffic(): EgressTraffic;
  warm(): WarmInstances;
  /** Rejects if the placement is closed first. */
  warmReady(): Promise<void>;
  /** Resolves when all processes, sockets and files of all instances are gone. */
  close(): Promise<void>;
}

/** The reason that the instance reported, else `instance_lost`. */
export interface InstanceEnd {
  readonly reason: "timeout" | "browser_crashed" | "stopped" | "instance_lost";
  /** For a lost instance: its exit code and last lines. */
  readonly detail?: string;
}

export interface InstanceRequest {
  readonly method: string;
  /** With the query, without `/browsers/{id}`. */
  readonly path: string;
  readonly headers?: OutgoingHttpHeaders;
  /** Ends the request, or the answer if it has begun. */
  readonly signal?: AbortSignal;
  /** Of a monitor: does not keep the session awake. */
  readonly isVisit?: boolean;
}

export interface Instance {
  readonly id: string;
  /** Killing this process ends the instance; `undefined` on another machine. */
  readonly pid: number | undefined;
  readonly kind: PlacementKind;
  /** It waited with an idle browser before its session. */
  readonly wasWarm?: boolean;
  readonly sleep: InstanceSleep;
  /** Bodies stream with backpressure; read or destroy the answer's. @throws {PlacementError} `instance_lost`. */
  request(init: InstanceRequest, body?: Readable | string): Promise<IncomingMessage>;
  /** Opens a raw connection, for upgrades. @throws {PlacementError} `instance_lost`. */
  connect(): Promise<Socket>;
  /** `undefined` = direct. Ends open connections. @throws {PlacementError} `bad_option` for an invalid address. */
  setUpstream(upstream: EgressUpstream | undefined): void;
  readonly upstream: EgressUpstream | undefined;
  /** `undefined` = none. Ends open connections. The browser must trust their authority. */
  setExitHeaders(headers: ExitHeaders | undefined): void;
  readonly exitHeaders: ExitHeaders | undefined;
  /** Through the egress gateway; also after its end. */
  transferred(): TransferredBytes;
  /**
   * Replaces the rules of one source; `undefined` removes them. Closes the connections that the new rules refuse.
   * @throws {PlacementError} `bad_option` for an invalid entry; nothing changes.
   */
  setRules(source: RuleSource, rules: EgressRules | undefined): void;
  /**
   * A running browser must reload them (`POST /_instance/policies`). @throws {PlacementError} `bad_option`.
   * @returns their revision in hexadecimal, by which the instance recognizes that they are active.
   */
  setPolicies(policies: ChromePolicies): Promise<string>;
  /** Makes a locale usable for the next start of its browser, where the box can. */
  setLocale(locale: string): Promise<void>;
  /**
   * Stores it, so that {@link SessionSurroundings.copyOf} starts copies. It continues afterwards, with its clients.
   * @throws {PlacementError} `bad_option` if it is not forkable, `no_space`, `start_failed`, `instance_lost`.
   */
  copy(signal?: AbortSignal): Promise<InstanceCopy>;
  /** Calls `listener` in order until `ended` resolves. Returns a function that removes it. */
  onEvent(listener: (event: InstanceEvent) => void): () => void;
  /** Resolves when all processes, sockets and files of the instance are gone. Never rejects. */
  readonly ended: Promise<InstanceEnd>;
  /** Resolves with `ended`. May be called again. */
  stop(): Promise<void>;
}
