import { once } from "node:events";
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";

export interface RecordingProxy {
  readonly baseUrl: string;
  /** In the order of the responses: `DELETE /browsers/files/fs/watch/k3f9 204`. */
  readonly exchanges: readonly string[];
  /** Stalls matching responses after their first chunk. */
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
      // Omit headers of the connection between service and proxy.
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
