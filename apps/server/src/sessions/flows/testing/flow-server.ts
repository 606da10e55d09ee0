import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/test-server.ts";

export interface FlowServer {
  readonly server: TestServer;
  /** Of the site: `http://127.0.0.1:4711` */
  readonly base: string;
  /** Returns the body of a successful answer. */
  readonly call: (method: string, path: string, body?: unknown) => Promise<unknown>;
}

/** Call it in a test file: a service, and a site that its sessions may open. Read its fields inside tests only. */
export function useFlowServer(site: RequestListener, options: Parameters<typeof startTestServer>[1] = {}): FlowServer {
  const listener = createServer(site);
  let server: TestServer;
  beforeAll(async () => {
    await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
    server = await startTestServer({ allow_private_hosts: ["127.0.0.1"] }, options);
  });
  afterAll(async () => {
    await server.close();
    listener.close();
    listener.closeAllConnections();
  });
  return {
    get server() {
      return server;
    },
    get base() {
      return `http://127.0.0.1:${String((listener.address() as AddressInfo).port)}`;
    },
    async call(method, path, body) {
      const answer = await server.request(method, path, body === undefined ? {} : { body });
      expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
      return answer.body;
    },
  };
}
