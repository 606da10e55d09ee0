import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { createClient, type Client, type Display } from "x11";

/** A connection to an X server. */
export interface XConnection {
  readonly client: Client;
  readonly display: Display;
  readonly root: number;
  /** Whether the server, or the connection to it, is gone. */
  readonly ended: boolean;
  /** Resolves when it is. */
  readonly end: Promise<void>;
  /**
   * Waits for the reply to a request.
   *
   * @param send - makes the request.
   * @throws {XServerGone} when the server is gone, or goes meanwhile; what the server refuses, as an error of x11.
   */
  ask<T>(send: (reply: (error: Error | null | undefined, value: T) => void) => void): Promise<T>;
  close(): void;
}

/** The X server ended. */
export class XServerGone extends Error {
  override readonly name = "XServerGone";
}

/**
 * Connects to an X server of this machine.
 *
 * @param number - of its display.
 * @param cookie - the 16 bytes that it was started with, as latin1.
 * @throws when it does not answer, or knows another cookie.
 */
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
    const client = createClient({ display: `:${String(number)}`, stream, auth: { name: "MIT-MAGIC-COOKIE-1", data: cookie } }, (error, opened) => {
      if (error) reject(error);
      else resolve(opened);
    });
    // What is sent without waiting may meet a window that has just gone.
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

/** On Linux its socket has no name in the filesystem. */
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
