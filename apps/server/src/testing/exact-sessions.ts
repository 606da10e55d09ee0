import { examineHost } from "@shoal/placement";
import { Browser } from "@shoal/schemas";
import { readdirSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "vitest";
import { startTestServer, type TestServer } from "./test-server.ts";

const { findings } = await examineHost();

/** Why this machine cannot copy the processes of sessions. */
export const noCopiesBecause = findings.find(({ name }) => name === "forks")?.advice;

/** A server, and a site with one page, for sessions whose processes are copied. */
export class ExactSessions {
  readonly server: TestServer;
  readonly address: string;
  /** Addresses of the requests to the site, in their order. */
  readonly requests: readonly string[];
  readonly #site: Server;

  private constructor(server: TestServer, site: Server, requests: readonly string[]) {
    this.server = server;
    this.#site = site;
    this.requests = requests;
    this.address = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}`;
  }

  static async open(page: string): Promise<ExactSessions> {
    const requests: string[] = [];
    const site = createServer((request, response) => {
      requests.push(request.url ?? "");
      response.setHeader("content-type", "text/html").end(page);
    });
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
    const server = await startTestServer({ placement: "sandbox", allow_private_hosts: ["127.0.0.1"] });
    return new ExactSessions(server, site, requests);
  }

  async close(): Promise<void> {
    this.#site.closeAllConnections();
    this.#site.close();
    await this.server.close();
  }

  /** How often sessions loaded the page. */
  get loads(): number {
    return this.requests.filter((url) => url === "/").length;
  }

  /** Folders of copies in memory. Other programs of the machine have theirs. */
  readonly images = (): string[] =>
    readdirSync("/dev/shm").filter((name) => name.startsWith(`shoal-copy-${String(process.pid)}-`));

  readonly create = async (body: object): Promise<Browser> => {
    const answer = await this.server.request("POST", "/browsers", { body: { timeout_seconds: 600, ...body } });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return Browser.parse(answer.body);
  };

  /** Creates a session with a text in the field of the page. */
  readonly begin = async (body: object, text: string): Promise<Browser> => {
    const parent = await this.create(body);
    for (const act of [
      { type: "navigate", url: `${this.address}/` },
      { type: "fill", role: "textbox", text },
    ])
      expect(await this.server.request("POST", `/browsers/${parent.session_id}/act`, { body: act })).toMatchObject({
        status: 200,
      });
    return parent;
  };

  readonly outlineOf = async (id: string): Promise<string> => {
    const { body, status } = await this.server.request("POST", `/browsers/${id}/observe`, { body: {} });
    expect(status, JSON.stringify(body)).toBe(200);
    return (body as { outline: string }).outline;
  };
}
