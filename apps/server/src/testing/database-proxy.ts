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
  close(): void;
}

/** @param directory - of the embedded PostgreSQL, with its socket. */
export async function startDatabaseProxy(directory: string): Promise<DatabaseProxy> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-way-"));
  const sockets = new Set<Socket>();
  let opened = Promise.resolve();
  let open = (): void => undefined;
  const proxy = createServer((inside) => {
    const outside = connect(join(directory, "run", socketName));
    for (const [socket, other] of [[inside, outside], [outside, inside]] as const) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    outside.pipe(inside);
    void (async () => {
      for await (const chunk of inside as AsyncIterable<Buffer>) {
        await opened;
        if (way.delayMs > 0) await delay(way.delayMs);
        outside.write(chunk);
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
    close() {
      proxy.close();
      this.resume();
      this.cut();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return way;
}
