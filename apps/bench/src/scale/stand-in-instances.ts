import { type Instance, type InstanceEnd, type Placement, withAcquire } from "@shoal/placement";
import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request as httpRequest } from "node:http";
import { connect } from "node:net";
import { pipeline } from "node:stream";

/** Replaces the instances of a placement: one HTTP server in this process answers for all of them, without a browser. */
export async function standInInstances(socketPath: string): Promise<(placement: Placement) => Placement> {
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader("content-type", "application/json").end("[]");
  });
  server.listen(socketPath);
  await once(server, "listening");
  server.unref();
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 64 });
  let count = 0;
  return (placement) =>
    withAcquire(placement, () => {
      count += 1;
      return Promise.resolve(standIn(`stand-in-${String(count)}`, { agent, kind: placement.kind, socketPath }));
    });
}

interface Surroundings {
  readonly agent: Agent;
  readonly kind: Placement["kind"];
  readonly socketPath: string;
}

function standIn(id: string, { agent, kind, socketPath }: Surroundings): Instance {
  const { promise: ended, resolve } = Promise.withResolvers<InstanceEnd>();
  const listeners = new Set<Parameters<Instance["onEvent"]>[0]>();
  return {
    id,
    pid: process.pid,
    kind,
    upstream: undefined,
    sleep: {
      asleepSinceMs: undefined,
      after: () => undefined,
      touch: () => undefined,
      onChange: () => () => undefined,
    },
    request: ({ headers = {}, method, path, signal }, body) =>
      new Promise<IncomingMessage>((answer, reject) => {
        const outgoing = httpRequest({ agent, socketPath, method, path, headers, ...(signal && { signal }) });
        outgoing.once("response", answer).once("error", reject);
        if (body === undefined || typeof body === "string") outgoing.end(body);
        else pipeline(body, outgoing, () => undefined);
      }),
    async connect() {
      const socket = connect(socketPath);
      await once(socket, "connect");
      return socket;
    },
    setUpstream: () => undefined,
    setExitHeaders: () => undefined,
    exitHeaders: undefined,
    transferred: () => ({ sentBytes: 0, receivedBytes: 0 }),
    setRules: () => undefined,
    setLocale: () => Promise.resolve(),
    setPolicies: () => Promise.resolve("0"),
    copy: () => Promise.reject(new Error("A stand-in has no processes to copy.")),
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    ended,
    stop() {
      resolve({ reason: "stopped" });
      return Promise.resolve();
    },
  };
}
