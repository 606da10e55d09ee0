import { once } from "node:events";
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";

/** Stands before a service and keeps what is asked of it. */
export interface RecordingProxy {
  readonly baseUrl: string;
  /** `DELETE /browsers/files/fs/watch/k3f9 204`, in the order of the answers. */
  readonly exchanges: readonly string[];
  /** From now on, answers to paths that fit are passed on to their first piece, and stand still there. */
  holdBack(paths: RegExp): void;
  close(): void;
}

export async function startRecordingProxy(target: string): Promise<RecordingProxy> {
  const exchanges: string[] = [];
  let held: RegExp | undefined;
  const server = createServer((incoming, outgoing) => {
    const { method = "", url = "", headers } = incoming;
    const onward = httpRequest(new URL(url, target), { method, headers }, (answer) => {
      exchanges.push(`${method} ${url} ${String(answer.statusCode)}`);
      // How long its connections stay open is the service's word to this proxy, not to the client.
      const { connection: _connection, "keep-alive": _keepAlive, ...passedOn } = answer.headers;
      outgoing.writeHead(answer.statusCode ?? 502, passedOn);
      outgoing.flushHeaders();
      if (held?.test(url) === true) answer.once("data", (piece: Buffer) => outgoing.write(piece)).resume();
      else answer.pipe(outgoing);
    });
    onward.on("error", () => outgoing.destroy());
    outgoing.on("close", () => onward.destroy());
    incoming.pipe(onward);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    baseUrl: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    exchanges,
    holdBack(paths) {
      held = paths;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
