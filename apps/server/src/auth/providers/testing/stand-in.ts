import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** Faults of a store; `undefined` = it works. */
export type Fault = "401" | "403" | "429" | "500" | "slow" | "half" | "huge" | "text" | "redirect" | "shape";

export interface StoreRequest {
  readonly raw: IncomingMessage;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly header: (name: string) => string | undefined;
  readonly body: string;
  readonly json: () => Record<string, unknown>;
}

export type StoreAnswer = readonly [status: number, json?: unknown];

export interface StandIn {
  readonly url: string;
  /** `GET /v1/vaults`, in order. */
  readonly asked: string[];
  fault: Fault | undefined;
  /** Answers once with 429 and this `retry-after`. */
  busyOnce: string | undefined;
  close(): Promise<void>;
}

/** A secret store on a loopback port: `answer` plays it, faults replace its answers. */
export async function startStandIn(
  answer: (request: StoreRequest) => StoreAnswer | Promise<StoreAnswer>,
): Promise<StandIn> {
  const server = createServer((raw, response) => {
    void (async () => {
      let body = "";
      for await (const chunk of raw.setEncoding("utf8")) body += String(chunk);
      const url = new URL(raw.url ?? "", "http://store.test");
      const method = raw.method ?? "";
      standIn.asked.push(`${method} ${url.pathname}`);
      const json = (status: number, value: unknown, headers: Record<string, string> = {}) =>
        response
          .writeHead(status, { "content-type": "application/json", ...headers })
          .end(value === undefined ? "" : JSON.stringify(value));
      const { busyOnce, fault } = standIn;
      if (busyOnce !== undefined) {
        standIn.busyOnce = undefined;
        json(429, {}, { "retry-after": busyOnce });
        return;
      }
      switch (fault) {
        case "401":
        case "403":
        case "500":
          json(Number(fault), { message: `echo of ${raw.headers.authorization ?? ""}` });
          return;
        case "429":
          json(429, {}, { "retry-after": "120" });
          return;
        case "slow":
          return;
        case "half":
          response.writeHead(200, { "content-length": "1000" }).write('{"data":');
          response.socket?.end();
          return;
        case "huge":
          response.writeHead(200).end(`"${"x".repeat(3 * 2 ** 20)}"`);
          return;
        case "text":
          response.writeHead(200).end("<html>Sign in</html>");
          return;
        case "redirect":
          response.writeHead(302, { location: "http://169.254.169.254/latest/meta-data" }).end();
          return;
        case "shape":
          json(200, 7);
          return;
        case undefined: {
          const [status, value] = await answer({
            raw,
            method,
            path: decodeURIComponent(url.pathname).replace(/\/$/, ""),
            query: url.searchParams,
            header: (name) => raw.headers[name]?.toString(),
            body,
            json: () => JSON.parse(body) as Record<string, unknown>,
          });
          json(status, value);
        }
      }
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const standIn: StandIn = {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    asked: [],
    fault: undefined,
    busyOnce: undefined,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return standIn;
}
