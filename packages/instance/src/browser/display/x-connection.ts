import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { createClient, type Client, type Display } from "x11";

export interface XConnection {
  readonly client: Client;
  readonly display: Display;
  readonly root: number;
  readonly ended: boolean;
  readonly end: Promise<void>;
  /** Sends a request and waits for its reply. @throws {XServerGone} or an x11 error. */
  ask<T>(send: (reply: (error: Error | null | undefined, value: T) => void) => void): Promise<T>;
  close(): void;
}

export class XServerGone extends Error {
  override readonly name = "XServerGone";
}

/** `cookie`: 16 bytes as latin1, of the server's start. @throws when the server does not answer or rejects it. */
export async function connectToX(number: number, cookie: string): Promise<XConnection> {
  const stream = await openSocket(number);
  const gone = Promise.withResolvers<never>();
  gone.promise.catch(() => undefined);
  const end = Promise.withResolvers<undefined>();
  let ended = false;
  stream.once("close", () => {
    ended = true;
    gone.reject(new XServerGone("The X server of this session ended."));
    end.resolve(undefined);
  });
  const display = await new Promise<Display>((resolve, reject) => {
    const client = createClient(
      { display: `:${String(number)}`, stream, auth: { name: "MIT-MAGIC-COOKIE-1", data: cookie } },
      (error, opened) => {
        if (error) reject(error);
        else resolve(opened);
      },
    );
    // A request without a reply may name a window that has just closed.
    client.on("error", () => undefined);
  });
  const [screen] = display.screen;
  if (screen === undefined) throw new Error("The X server has no screen.");
  const { client } = display;
  return {
    client,
    display,
    root: screen.root,
    get ended() {
      return ended;
    },
    end: end.promise,
    ask: (send) =>
      Promise.race([
        new Promise<Parameters<Parameters<typeof send>[0]>[1]>((resolve, reject) => {
          send((error, value) => {
            if (error) reject(error);
            else resolve(value);
          });
        }),
        gone.promise,
      ]),
    close() {
      client.terminate();
      stream.destroy();
    },
  };
}

/** On Linux, the server's socket is abstract: it has no file. */
async function openSocket(number: number): Promise<Socket> {
  const path = `/tmp/.X11-unix/X${String(number)}`;
  for (const address of process.platform === "linux" ? [`\0${path}`, path] : [path]) {
    const socket = createConnection(address);
    try {
      await once(socket, "connect");
      socket.on("error", () => undefined);
      return socket;
    } catch {
      socket.destroy();
    }
  }
  throw new Error(`The X server does not listen on ${path}.`);
}
