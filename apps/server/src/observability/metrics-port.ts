import { createHash, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { explainListenError, urlOf } from "../http/listen.ts";
import type { Log } from "../log/log.ts";
import type { Metrics } from "./metrics.ts";

/** Always true when no token is configured. */
export function hasToken({ headers }: Pick<IncomingMessage, "headers">, token: string | undefined): boolean {
  if (token === undefined) return true;
  const given = /^bearer (.+)$/i.exec(headers.authorization ?? "")?.[1]?.trim() ?? "";
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(given), hash(token));
}

export async function answerMetrics(metrics: Metrics, response: ServerResponse, log: Log): Promise<void> {
  try {
    const text = await metrics.text();
    response.writeHead(200, { "content-type": metrics.contentType, "cache-control": "no-store" }).end(text);
  } catch (error) {
    log.warn({ err: error }, "metrics could not be collected");
    response
      .writeHead(503, { "content-type": "text/plain", "retry-after": "5" })
      .end("The metrics could not be collected; see the log of the service.\n");
  }
}

export interface MetricsPort {
  /** `http://127.0.0.1:9464/metrics`. */
  readonly url: string;
  close(): Promise<void>;
}

/** @throws {StartError} when the port is unavailable. */
export async function openMetricsPort(
  where: { readonly host: string; readonly port: number; readonly token: string | undefined },
  metrics: Metrics,
  log: Log,
): Promise<MetricsPort> {
  const server = createServer({ headersTimeout: 5000, requestTimeout: 5000 }, (request, response) => {
    if (request.url?.split("?", 1)[0] !== "/metrics")
      response.writeHead(404).end("Not found; the only path is /metrics.\n");
    else if (request.method !== "GET" && request.method !== "HEAD")
      response.writeHead(405, { allow: "GET, HEAD" }).end();
    else if (!hasToken(request, where.token))
      response.writeHead(401, { "www-authenticate": "Bearer" }).end("Send the metrics_token as a bearer token.\n");
    else void answerMetrics(metrics, response, log);
  });
  try {
    server.listen({ host: where.host, port: where.port });
    await once(server, "listening");
  } catch (error) {
    throw explainListenError(error, where, "--metrics-port");
  }
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : where.port;
  return {
    url: `${urlOf(where.host, port)}/metrics`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
