import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { cpuMs } from "../measuring/processes.ts";
import type { ChangeBroker } from "./change-load.ts";

const subject = "shoal_changes";
const port = 14_222;

/** Starts Debian's nats-server with `listeners` subscribers. @returns `undefined` if it is not installed. */
export async function startNats(listeners: number): Promise<(ChangeBroker & AsyncDisposable) | undefined> {
  if (spawnSync("nats-server", ["--version"]).status !== 0) return undefined;
  const child = spawn("nats-server", ["--addr", "127.0.0.1", "--port", String(port)], { stdio: "ignore" });
  const sockets: Socket[] = [];
  const broker: ChangeBroker & AsyncDisposable = {
    listeners,
    onArrival: () => undefined,
    send: (id) => {
      sockets[0]?.write(`PUB ${subject} ${String(id.length)}\r\n${id}\r\n`);
      return Promise.resolve();
    },
    cpuMs: () => cpuMs(child.pid ?? 0),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      child.kill();
      await once(child, "exit");
    },
  };
  try {
    for (let index = 0; index <= listeners; index++) sockets.push(await openSocket());
    await Promise.all(
      sockets.slice(1).map((socket) =>
        subscribe(socket, (id) => {
          broker.onArrival(id);
        }),
      ),
    );
    return broker;
  } catch (error) {
    await broker[Symbol.asyncDispose]();
    throw error;
  }
}

async function openSocket(): Promise<Socket> {
  for (let attempt = 0; ; attempt++) {
    const socket = connect(port, "127.0.0.1").setNoDelay(true);
    try {
      await once(socket, "data");
      socket.write('CONNECT {"verbose":false}\r\n');
      return socket;
    } catch (error) {
      socket.destroy();
      if (attempt === 50) throw error;
      await delay(100);
    }
  }
}

/** Resolves when the server has taken the subscription. Each message is a line with its size, and a line with its id. */
async function subscribe(socket: Socket, onArrival: (id: string) => void): Promise<void> {
  const { promise: subscribed, resolve } = Promise.withResolvers<undefined>();
  let rest = "";
  let isPayload = false;
  socket.on("data", (chunk: Buffer) => {
    const lines = (rest + chunk.toString("latin1")).split("\r\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (isPayload) onArrival(line);
      else if (line === "PING") socket.write("PONG\r\n");
      else if (line === "PONG") resolve(undefined);
      isPayload = !isPayload && line.startsWith("MSG ");
    }
  });
  socket.write(`SUB ${subject} 1\r\nPING\r\n`);
  await subscribed;
}
