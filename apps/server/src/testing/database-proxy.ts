import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const socketName = ".s.PGSQL.5432";

/** Stands between the service and its database, and makes the way as bad as a test wants it. */
export interface DatabaseProxy {
  /** Of the database behind it, for `openDatabase`. */
  readonly url: string;
  /** Milliseconds that everything from the service takes longer. */
  delayMs: number;
  /** Passes nothing on, in silence, until {@link resume}; nor do new connections come through. */
  pause(): void;
  resume(): void;
  /** Breaks every connection, as a restart of a balancer does. */
  cut(): void;
  /**
   * Breaks the connection on which the service next sends this text: before it arrives, or when the database has done what it says and before the service learns of it.
   *
   * @returns when it has.
   */
  cutAt(text: string, when: "before" | "after"): Promise<void>;
  /** Answers of the database so far: round trips. */
  readonly answers: number;
  close(): void;
}

/** ReadyForQuery, which ends each answer; then comes whether a transaction is open. */
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

/** @param directory - of the embedded PostgreSQL, with its socket. */
export async function startDatabaseProxy(directory: string): Promise<DatabaseProxy> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-way-"));
  const sockets = new Set<Socket>();
  let opened = Promise.resolve();
  let open = (): void => undefined;
  let trap: Trap | undefined;
  let answers = 0;
  const proxy = createServer((inside) => {
    const outside = connect(join(directory, "run", socketName));
    for (const [socket, other] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    outside.pipe(inside);
    outside.on("data", (chunk: Buffer) => {
      answers += countOf(chunk, ready);
    });
    const spring = (chunk: Buffer, { sprung, when }: Trap): void => {
      trap = undefined;
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
    };
    void (async () => {
      for await (const chunk of inside as AsyncIterable<Buffer>) {
        await opened;
        if (way.delayMs > 0) await delay(way.delayMs);
        if (trap !== undefined && chunk.includes(trap.text)) spring(chunk, trap);
        else outside.write(chunk);
      }
    })().catch(() => undefined);
  });
  proxy.listen(join(folder, socketName));
  await once(proxy, "listening");
  const way: DatabaseProxy = {
    url: `postgres:///postgres?host=${encodeURIComponent(folder)}&user=shoal`,
    delayMs: 0,
    pause() {
      opened = new Promise((resolve) => {
        open = resolve;
      });
    },
    resume() {
      open();
      opened = Promise.resolve();
    },
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    async cutAt(text, when) {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      trap = {
        text,
        when,
        sprung: () => {
          resolve(undefined);
        },
      };
      await promise;
    },
    get answers() {
      return answers;
    },
    close() {
      proxy.close();
      this.resume();
      this.cut();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return way;
}
