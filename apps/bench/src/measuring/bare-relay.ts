import { spawn } from "node:child_process";
import { once } from "node:events";

/** A process that only copies bytes between two sockets. */
const program = `
  const { connect, createServer } = require("node:net");
  const [listen, target] = process.argv.slice(1).map((text) => JSON.parse(text));
  createServer({ noDelay: true }, (one) => {
    const other = connect({ ...target, noDelay: true });
    for (const [from, to] of [[one, other], [other, one]]) {
      from.on("data", (chunk) => to.write(chunk));
      from.on("close", () => to.destroy());
      from.on("error", () => to.destroy());
    }
  }).listen(listen, () => console.log("listening"));`;

type Address = { readonly path: string } | { readonly port: number; readonly host: string };

interface Relay {
  readonly pid: number;
  close(): Promise<void>;
}

async function startRelay(listen: Address, target: Address): Promise<Relay> {
  const child = spawn(process.execPath, ["-e", program, JSON.stringify(listen), JSON.stringify(target)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return {
    pid: child.pid ?? Number.NaN,
    async close() {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

/** Two relays in a row, joined by a Unix socket like the service and an instance. @param path - of that socket. */
export async function startRelays(
  port: number,
  target: number,
  path: string,
): Promise<{ readonly pids: readonly number[]; close(): Promise<void> }> {
  const host = "127.0.0.1";
  const inner = await startRelay({ path }, { port: target, host });
  const outer = await startRelay({ port, host }, { path });
  return {
    pids: [inner.pid, outer.pid],
    async close() {
      await Promise.all([inner.close(), outer.close()]);
    },
  };
}
