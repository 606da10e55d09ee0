import { closeSync, constants, fstatSync, openSync } from "node:fs";

/** Linux O_PATH: refers to a file without opening it. */
const openPathOnly = 0o10000000;

export interface PinnedSocket {
  /** Keeps naming the same socket. */
  readonly path: string;
  readonly unpin: () => void;
}

/** @throws if the path is not a socket. */
export function pinSocket(path: string): PinnedSocket {
  if (process.platform !== "linux") return { path, unpin: () => undefined };
  // Without the pin, a link in this directory, which the box may write to, could lead the service to a host socket.
  const pinned = openSync(path, openPathOnly | constants.O_NOFOLLOW);
  if (fstatSync(pinned).isSocket()) {
    return {
      path: `/proc/self/fd/${pinned}`,
      unpin: () => {
        closeSync(pinned);
      },
    };
  }
  closeSync(pinned);
  throw new Error("The instance does not listen on a socket.");
}
