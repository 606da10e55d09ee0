import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const portOf = (url: URL) => url.searchParams.get("port") ?? "5432";
const socketIn = (folder: string, port: string) => join(folder, `.s.PGSQL.${port}`);

/** ReadyForQuery, which ends each answer; the transaction state follows. */
const ready = Buffer.from([0x5a, 0, 0, 0, 5]);

function countOf(chunk: Buffer, part: Buffer): number {
  let count = 0;
  for (let at = chunk.indexOf(part); at !== -1; at = chunk.indexOf(part, at + part.length)) count += 1;
  return count;
}

interface Trap {
  readonly text: string;
  readonly when: "before" | "after";
  readonly sprung: () => void;
}

/** @param url - of a database at a socket. @param folder - of the test, which removes it even without {@link DatabaseProxy.close}. */
export async function startDatabaseProxy(url: string, folder: string): Promise<DatabaseProxy> {
  const proxy = new DatabaseProxy(new URL(url), folder);
  await proxy.listen();
  return proxy;
}

/** Sits between the service and its database, and injects network faults. */
export class DatabaseProxy {
  /** Added to everything that the service sends. */
  delayMs = 0;
  readonly #database: URL;
  readonly #folder: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #opened = Promise.resolve();
  #open = (): void => undefined;
  #trap: Trap | undefined;
  #answers = 0;

  constructor(database: URL, folder: string) {
    this.#database = database;
    this.#folder = mkdtempSync(join(folder, "way-"));
    this.#server = createServer((inside) => {
      this.#accept(inside);
    });
  }

  get url(): string {
    const url = new URL(this.#database);
    url.searchParams.set("host", this.#folder);
    return url.href;
  }

  get answers(): number {
    return this.#answers;
  }

  async listen(): Promise<void> {
    this.#server.listen(socketIn(this.#folder, portOf(this.#database)));
    await once(this.#server, "listening");
  }

  /** Delays data and new connections until {@link resume}. */
  pause(): void {
    this.#opened = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  resume(): void {
    this.#open();
    this.#opened = Promise.resolve();
  }

  /** Breaks every connection, like the restart of a load balancer. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /**
   * Breaks the connection on which the service next sends this text: before the text arrives, or after the database ran
   * it and before the service gets the answer.
   */
  async cutAt(text: string, when: "before" | "after"): Promise<void> {
    await new Promise<void>((sprung) => {
      this.#trap = { text, when, sprung };
    });
  }

  close(): void {
    this.#server.close();
    this.resume();
    this.cut();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #accept(inside: Socket): void {
    const outside = connect(socketIn(this.#database.searchParams.get("host") ?? "", portOf(this.#database)));
    this.#tie(inside, outside);
    this.#tie(outside, inside);
    outside.pipe(inside);
    outside.on("data", (chunk: Buffer) => {
      this.#answers += countOf(chunk, ready);
    });
    this.#forward(inside, outside).catch(() => undefined);
  }

  #tie(socket: Socket, other: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      this.#sockets.delete(socket);
      other.destroy();
    });
  }

  async #forward(inside: Socket, outside: Socket): Promise<void> {
    for await (const chunk of inside as AsyncIterable<Buffer>) {
      await this.#opened;
      if (this.delayMs > 0) await delay(this.delayMs);
      if (this.#trap !== undefined && chunk.includes(this.#trap.text)) {
        const trap = this.#trap;
        this.#trap = undefined;
        spring(trap, chunk, { inside, outside });
      } else outside.write(chunk);
    }
  }
}

function spring(
  { sprung, when }: Trap,
  chunk: Buffer,
  { inside, outside }: { readonly inside: Socket; readonly outside: Socket },
): void {
  outside.unpipe(inside);
  const cut = () => {
    inside.destroy();
    sprung();
  };
  if (when === "before") {
    cut();
    return;
  }
  outside.on("data", (answer: Buffer) => {
    if (answer.includes(ready)) cut();
  });
  outside.resume();
  outside.write(chunk);
}
