import { type Instance, type InstanceEnd, type Placement, PlacementError, withAcquire } from "@shoal/placement";
import { once } from "node:events";
import { Agent, type IncomingMessage, request as httpRequest } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { pipeline } from "node:stream";

/** Compromised instances: a test writes every byte of their answers. */
export interface HostileInstances {
  /** Replaces the placement's own instances. */
  readonly around: (placement: Placement) => Placement;
  /** Answers new connections. @param received - the head of the request, with its empty line. */
  answer: (socket: Socket, received: string) => void;
  readonly received: string[];
  /** Bytes that the server took of all answers. */
  takenBytes(): number;
  connections(): number;
  close(): Promise<void>;
}

export async function startHostileInstances(): Promise<HostileInstances> {
  const sockets = new Set<Socket>();
  const received: string[] = [];
  let takenBytes = 0;
  const server = createServer((socket) => {
    const index = received.push("") - 1;
    let answered = 0;
    sockets.add(socket);
    socket.on("close", () => {
      if (sockets.delete(socket)) takenBytes += socket.bytesWritten;
    });
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk: Buffer) => {
      const text = (received[index] ?? "") + chunk.toString("latin1");
      received[index] = text;
      // Once for each request without a body.
      for (let end = text.indexOf("\r\n\r\n", answered); end >= 0; end = text.indexOf("\r\n\r\n", answered)) {
        const head = text.slice(answered, end + 4);
        answered = end + 4;
        instances.answer(socket, head);
      }
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const instances: HostileInstances = {
    around: (placement) => withAcquire(placement, () => Promise.resolve(instanceAt(port))),
    answer: (socket) => socket.destroy(),
    received,
    takenBytes: () => takenBytes + [...sockets].reduce((sum, socket) => sum + socket.bytesWritten, 0),
    connections: () => sockets.size,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
  return instances;
}

function instanceAt(port: number): Instance {
  const ended = Promise.withResolvers<InstanceEnd>();
  const agent = new Agent({ keepAlive: true });
  return {
    id: "hostile",
    pid: process.pid,
    kind: "process",
    sleep: {
      asleepSinceMs: undefined,
      after: () => undefined,
      touch: () => undefined,
      onChange: () => () => undefined,
    },
    request: ({ headers, method, path, signal }, body) =>
      new Promise<IncomingMessage>((resolve, reject) => {
        const request = httpRequest({
          agent,
          host: "127.0.0.1",
          port,
          method,
          path,
          ...(headers && { headers }),
          ...(signal && { signal }),
        });
        request.on("response", resolve).on("error", (cause) => {
          reject(new PlacementError("instance_lost", "The instance does not answer.", { cause }));
        });
        if (body === undefined || typeof body === "string") request.end(body);
        else pipeline(body, request, () => undefined);
      }),
    async connect() {
      const socket = connect(port, "127.0.0.1");
      await once(socket, "connect");
      return socket;
    },
    setUpstream: () => undefined,
    setExitHeaders: () => undefined,
    exitHeaders: undefined,
    transferred: () => ({ sentBytes: 0, receivedBytes: 0 }),
    setRules: () => undefined,
    upstream: undefined,
    setLocale: () => Promise.resolve(),
    setPolicies: () => Promise.resolve("0"),
    copy: () => Promise.reject(new Error("This instance has no copies.")),
    onEvent: () => () => undefined,
    ended: ended.promise,
    async stop() {
      agent.destroy();
      ended.resolve({ reason: "stopped" });
      await ended.promise;
    },
  };
}
