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

/** Lets the service connect through a container engine: this machine has no network. @param folder - private. */
export async function serveStandardStreams(door: RemoteDoor, folder: string, onGone: () => void): Promise<void> {
  const [near, far] = await socketPair(join(folder, "tunnel.sock"));
  // Unlike `process.stdout`, this does not block.
  const output = new Socket({ fd: 1, readable: false, writable: true });
  const input = new Socket({ fd: 0, readable: true, writable: false });
  for (const stream of [near, far, output, input]) stream.on("error", onGone);
  input.pipe(near);
  near.pipe(output);
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
}
