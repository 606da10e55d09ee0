import { once } from "node:events";
import { chmod } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { type Duplex, PassThrough } from "node:stream";

export interface ProgramChannel {
  /** Of the first program that connects; at its end before that, an empty stream. */
  readonly opened: (gone: Promise<unknown>) => Promise<Duplex>;
  readonly close: () => void;
}

/** Milliseconds for the container and its first program to start. */
const startMs = 60_000;

/** A socket that accepts one connection: the program connects before it runs code of an app. */
export async function listenForProgram(path: string): Promise<ProgramChannel> {
  const server = createServer({ allowHalfOpen: true });
  const connected = new Promise<Socket>((resolve) => {
    server.once("connection", (socket) => {
      server.close();
      socket.on("error", () => undefined);
      server.on("connection", (other: Socket) => other.destroy());
      resolve(socket);
    });
  });
  server.listen(path);
  await once(server, "listening");
  // The folder above is closed to other users of this machine.
  await chmod(path, 0o666);
  return {
    opened: (gone) => within(startMs, Promise.race([connected, gone.then(() => new PassThrough().end())])),
    close: () => server.close(),
  };
}

async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`The program did not connect within ${String(ms / 1000)} s.`));
    }, ms);
  });
  return Promise.race([promise, late]).finally(() => {
    clearTimeout(timer);
  });
}
