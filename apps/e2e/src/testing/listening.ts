import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { ProcessEntry } from "./processes.ts";

export interface ListeningSocket {
  /** In the form of `/proc/net/tcp`: `0100007F` is 127.0.0.1. */
  readonly address: string;
  readonly port: number;
}

/** The sockets on which a process listens, in its network namespace; none for an unreadable process. Linux only. */
export function listeningSockets({ pid }: ProcessEntry): ListeningSocket[] {
  const own = new Set<string>();
  for (const fd of namesIn(`/proc/${pid}/fd`)) {
    try {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1];
      if (inode !== undefined) own.add(inode);
    } catch {
      // It was closed meanwhile.
    }
  }
  if (own.size === 0) return [];
  return ["tcp", "tcp6"].flatMap((table) =>
    textOf(`/proc/${pid}/net/${table}`)
      .split("\n")
      .slice(1)
      .flatMap((line) => {
        const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/);
        const [address = "", port = ""] = local.split(":");
        return state === "0A" && own.has(inode) ? [{ address, port: Number.parseInt(port, 16) }] : [];
      }),
  );
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // Its process has ended.
  }
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return []; // It has ended, or its files are unreadable.
  }
}
