import type { BrowserViewport } from "@shoal/schemas";
import type { EgressUpstream } from "./egress-upstream.ts";
import type { ChromePolicies, PlacementKind } from "./placement.ts";
import type { Readable } from "node:stream";

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A started instance program with its surroundings; what it says and whether it is ready is not known here. */
export interface Box {
  readonly id: string;
  readonly pid: number;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when every process of it is gone. Never rejects. */
  readonly gone: Promise<Exit>;
  /**
   * Path to connect to, once the program has said that it listens. It stays the same socket, whatever the box does to its directory afterwards.
   *
   * @throws when what lies there is not a socket.
   */
  readonly pinSocket: () => Promise<string>;
  /** What its traffic leaves by, from the next connection on; those that are open are ended. @throws {PlacementError} `bad_option`. */
  readonly setUpstream: (upstream: EgressUpstream | undefined) => void;
  /** Narrows what its pages reach of the private hosts. @throws {PlacementError} `bad_option`. */
  readonly setPrivateHosts: (hosts: readonly string[]) => void;
  /** Names the project that its connections count towards. */
  readonly setProject: (project: string) => void;
  /** Writes the policies that its browser finds. @returns their revision. @throws {PlacementError} `bad_option` where that is nowhere. */
  readonly setPolicies: (policies: ChromePolicies) => Promise<string>;
  /** Sets what memory it may take, in bytes, instead of the usual limit. @throws {PlacementError} `bad_option` where nothing can limit it. */
  readonly setMemory: (bytes: number) => Promise<void>;
  /** Kills all processes of it; `gone` tells when that is done. Safe to call again. */
  kill(): void;
  /** Removes files and sockets, once `gone` has resolved. */
  readonly clear: () => Promise<void>;
  /** Whether the program should be asked to end, because what it started may not end with it. */
  readonly asksToEnd: boolean;
}

/** Starts boxes of one kind. */
export interface BoxMaker {
  readonly kind: PlacementKind;
  /** @throws when the box cannot be started; nothing of it is left then. */
  start(id: string, viewport: Pick<BrowserViewport, "width" | "height">): Promise<Box>;
}
