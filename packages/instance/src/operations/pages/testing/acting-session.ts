import type { ActOnPage, ActResult } from "@shoal/schemas";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll } from "vitest";
import type { AssignInstance } from "../../../index.ts";
import { runInstance, type RunningInstance, type RunOptions } from "../../../testing/run-instance.ts";

export interface Refused {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** Answers of `act`: an error has `code`. */
export type Answer = ActResult & Refused;

export interface TestSite {
  readonly port: number;
  /** Requests with a body, by path. */
  readonly bodies: Map<string, string>;
  /** Pages by path. */
  page(path: string, html: string): void;
  handle(path: string, handler: (request: IncomingMessage, response: ServerResponse) => void): void;
}

export class ActingSession implements TestSite {
  readonly bodies = new Map<string, string>();
  readonly #pages = new Map<string, string>();
  readonly #handlers = new Map<string, (request: IncomingMessage, response: ServerResponse) => void>();
  readonly #chromium: RunOptions["chromium"];
  readonly #launch: AssignInstance["launch"];
  #instance: RunningInstance | undefined;
  #site: Server | undefined;
  #lastPage = 0;

  constructor(chromium: RunOptions["chromium"], launch?: AssignInstance["launch"]) {
    this.#chromium = chromium;
    this.#launch = launch;
    beforeAll(() => this.#start());
    afterAll(() => this.#stop());
  }

  get instance(): RunningInstance {
    if (this.#instance === undefined) throw new Error("not started");
    return this.#instance;
  }

  get port(): number {
    return (this.#site?.address() as AddressInfo).port;
  }

  page(path: string, html: string): void {
    this.#pages.set(path, html);
  }

  handle(path: string, handler: (request: IncomingMessage, response: ServerResponse) => void): void {
    this.#handlers.set(path, handler);
  }

  url(path: string, host = "127.0.0.1"): string {
    return `http://${host}:${String(this.port)}${path}`;
  }

  async act(body: ActOnPage): Promise<Answer> {
    const { status, text } = await this.instance.call("POST", "/act", JSON.stringify(body));
    const answer = JSON.parse(text) as Answer;
    return status === 200 ? answer : { ...answer, status };
  }

  /** Acts, and fails if the action is refused. A busy machine may need longer than the default limit. */
  async done(body: ActOnPage): Promise<ActResult> {
    const answer = await this.act({ timeout_ms: 60_000, ...body });
    if ((answer.code as string | undefined) !== undefined)
      throw new Error(`${JSON.stringify(body)}: ${answer.message}`);
    return answer;
  }

  /** Opens a page with this content. */
  async show(html: string): Promise<ActResult> {
    const path = `/page-${String(++this.#lastPage)}`;
    this.page(path, html);
    return this.done({ type: "navigate", url: this.url(path) });
  }

  /** Evaluates an expression in the front page, as a user's Playwright code would. */
  async evaluate(expression: string): Promise<unknown> {
    const { status, text } = await this.instance.call(
      "POST",
      "/playwright/execute",
      JSON.stringify({ code: `return await page.evaluate(${JSON.stringify(expression)})` }),
    );
    const answer = JSON.parse(text) as { success: boolean; result: unknown; error?: string };
    if (status !== 200 || !answer.success) throw new Error(text);
    return answer.result;
  }

  async #start(): Promise<void> {
    this.#site = createServer((request, response) => {
      const path = (request.url ?? "").replace(/[?].*/, "");
      const handler = this.#handlers.get(path);
      const html = this.#pages.get(path);
      if (handler !== undefined) handler(request, response);
      else if (html === undefined) response.writeHead(404).end("missing");
      else response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(`<!doctype html>${html}`);
    });
    await new Promise<void>((resolve) => this.#site?.listen(0, "127.0.0.1", resolve));
    this.#instance = await runInstance({ chromium: this.#chromium });
    await this.#instance.assign({ timeout_seconds: 600, launch: this.#launch });
  }

  async #stop(): Promise<void> {
    await this.#instance?.[Symbol.asyncDispose]();
    this.#site?.closeAllConnections();
    this.#site?.close();
  }
}
