import type { Duplex, Readable } from "node:stream";
import type { Socket } from "node:net";

export interface ProgramFolder {
  readonly from: string;
  /** Absolute, outside of `/tmp` and the home folder. */
  readonly to: string;
  /** `from` is a tar archive with gzip or zstd, which the box unpacks. Only with `Placement.copiesProgramFiles`. */
  readonly isArchive?: boolean;
}

export interface ProgramOptions {
  readonly project: string;
  readonly command: (place: ProgramPlace) => ProgramCommand;
  /** Readable for all users. Where the box gets copies, they use its memory. */
  readonly readOnly: readonly ProgramFolder[];
  /** As root, these folders are given to the box's user. None with `Placement.copiesProgramFiles`. */
  readonly writable: readonly ProgramFolder[];
  /** Further writable folders in memory, other than `/tmp` and the home folder. */
  readonly scratch: readonly string[];
  readonly folder: string;
  /** `public` follows the policy for pages; a list allows only these hosts, also private ones (`example.com`, `example.com:4873`). */
  readonly reach: "public" | readonly string[];
  /** Receives the program's connections to the API. The listener owns the socket. */
  readonly onApiConnection?: (socket: Socket) => void;
  /** Limits that only a sandbox sets; for memory, it needs control groups. */
  readonly memoryBytes: number;
  readonly diskBytes: number;
  readonly maxProcesses: number;
}

export interface ProgramCommand {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface ProgramPlace {
  /** Translates a path of the options into the path for the program. */
  pathOf(inside: string): string;
  readonly node: string;
  /** File descriptor; in a container, path of a socket that accepts one connection. */
  readonly channel: number | string;
  /** Before anything else, the program must listen on these ports of 127.0.0.1 and forward them to the sockets. */
  readonly forward: readonly { readonly port: number; readonly path: string }[];
  readonly proxyUrl: string;
  readonly apiUrl: string;
}

export interface ProgramExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ProgramBox {
  readonly id: string;
  /** `undefined` on another machine. */
  readonly pid: number | undefined;
  /** Read them, or the program waits. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly channel: Duplex;
  readonly ended: Promise<ProgramExit>;
  stop(): Promise<void>;
}
