import { codeOf } from "@shoal/primitives";
import { constants, createWriteStream, openSync } from "node:fs";
import { stat } from "node:fs/promises";
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";

const pollMs = 50;

/** True for a device, a pipe and anything else that a rename would replace by a regular file. */
export async function isSpecial(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && !found.isFile() && !found.isDirectory();
}

/**
 * Writes to a device or pipe without replacing it. Waits for the reader of a pipe.
 *
 * @returns the number of bytes.
 */
export async function writeInPlace(from: Readable, path: string, signal: AbortSignal): Promise<number> {
  try {
    const isPipe = (await stat(path)).isFIFO();
    const to = isPipe ? await openPipe(path, from, signal) : createWriteStream(path);
    await pipeline(from, to, { signal });
    return to.bytesWritten;
  } catch (error) {
    from.destroy();
    throw error;
  }
}

/** Without blocking: a blocked `open` would also keep the process from exiting. */
async function openPipe(path: string, from: Readable, signal: AbortSignal): Promise<Socket> {
  for (;;) {
    try {
      const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
      return new Socket({ fd, readable: false, writable: true });
    } catch (error) {
      if (codeOf(error) !== "ENXIO") throw error;
    }
    if (from.errored !== null) throw from.errored;
    await delay(pollMs, undefined, { signal });
  }
}
