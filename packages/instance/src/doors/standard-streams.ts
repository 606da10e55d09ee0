import { performServerHandshake } from "node:http2";
import { Socket } from "node:net";
import { join } from "node:path";
import { socketPair } from "@shoal/primitives/node";
import { log } from "../system/log.ts";
import type { RemoteDoor } from "./remote-door.ts";

const maxStreams = 4_096;
const maxSessionMegabytes = 64;
const streamWindowBytes = 2 ** 20;
const connectionWindowBytes = 16 * 2 ** 20;

interface StandardStreams {
  readonly input: Socket;
  readonly output: Socket;
}

let opened: StandardStreams | undefined;

/** Unlike `process.stdout`, these do not block. A second stream of the same descriptor would receive nothing. */
function standardStreams(): StandardStreams {
  opened ??= {
    input: new Socket({ fd: 0, readable: true, writable: false }),
    output: new Socket({ fd: 1, readable: false, writable: true }),
  };
  return opened;
}

/** For a copy of this program, whose descriptors are other pipes than before: drops bytes that were on their way. */
export async function emptyStandardStreams(): Promise<void> {
  const { input, output } = standardStreams();
  while (input.read() !== null);
  // Written after everything that the copied program had not written yet.
  await new Promise<void>((resolve) => {
    output.write("\n", () => {
      resolve();
    });
  });
}

/**
 * Lets the service connect without a network.
 * @param folder - private.
 * @returns a function that leaves the streams to the next call.
 */
export async function serveStandardStreams(door: RemoteDoor, folder: string, onGone: () => void): Promise<() => void> {
  const [near, far] = await socketPair(join(folder, "tunnel.sock"));
  const { input, output } = standardStreams();
  for (const stream of [near, far, output, input]) stream.on("error", onGone);
  input.pipe(near);
  near.pipe(output, { end: false });
  near.on("end", onGone);
  const session = performServerHandshake(far, {
    maxSessionMemory: maxSessionMegabytes,
    settings: { maxConcurrentStreams: maxStreams, initialWindowSize: streamWindowBytes, enablePush: false },
  });
  session.setLocalWindowSize(connectionWindowBytes);
  session.on("stream", (stream, headers) => {
    stream.on("error", () => undefined);
    if (headers[":method"] !== "CONNECT") {
      stream.respond({ ":status": 405 }, { endStream: true });
      return;
    }
    stream.respond({ ":status": 200 });
    door.accept(stream);
  });
  session.on("error", (error: Error) => {
    log("warn", "the connection of the service broke", { error: error.message });
  });
  session.on("close", onGone);
  return () => {
    input.unpipe(near);
    near.unpipe(output);
    for (const stream of [near, output, input]) stream.off("error", onGone);
    near.off("end", onGone);
    session.off("close", onGone);
    session.destroy();
    near.destroy();
  };
}
