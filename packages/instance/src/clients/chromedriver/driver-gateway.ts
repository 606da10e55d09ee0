import { messageOf } from "@shoal/primitives";
import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import { pathOf, readBody, type Refusal } from "../../http/replies.ts";
import type { AutomationPause } from "../../pause/automation-pause.ts";
import { type CdpGatewayOptions, CdpGateway } from "../cdp/gateway.ts";
import { refuseCommand } from "./driver-answer.ts";
import { DriverProblem } from "./driver-process.ts";
import { atMost, DriverSession } from "./driver-session.ts";

/** Scripts and their arguments. */
const maxRequestBytes = 16 * 2 ** 20;
/** Screenshots of whole pages, and their source. */
const maxAnswerBytes = 128 * 2 ** 20;
const maxCapabilitiesBytes = 65_536;
/** A session has one command at a time; others wait in the driver. */
const maxRunning = 32;

const sessionPath = "/wd/session";
/** Paths of commands; the driver's own, such as its shutdown, are not below a session. */
const commandPath = /^\/wd\/session((?:\/(?!\.{1,2}(?:\/|$))[\w.~:@%!*'()-]{1,1024}){1,12})$/;

export interface DriverGatewayOptions extends Pick<
  CdpGatewayOptions,
  "downloads" | "endpoint" | "openContextProxy" | "root"
> {
  readonly pause: AutomationPause;
  readonly executable: string;
  readonly onStarted: (pid: number) => void;
}

/** Serves the commands of WebDriver (W3C) with a driver that starts at the first of them. */
export class DriverGateway {
  readonly #options: DriverGatewayOptions;
  readonly #cdp: CdpGateway;
  #session: Promise<DriverSession> | undefined;
  #running = 0;

  constructor(options: DriverGatewayOptions) {
    this.#options = options;
    this.#cdp = new CdpGateway({
      ...options,
      // Commands count as use, and not the driver's connection: sessions of killed clients end by their idle timeout.
      onClient: () => [],
      refuse: (_request, socket) => socket.destroy(),
    });
  }

  get isRunning(): boolean {
    return this.#session !== undefined;
  }

  /** Ends the driver: its browser has gone. */
  closeAll(): void {
    const session = this.#session;
    this.#session = undefined;
    session?.then(
      (running) => {
        running.end();
      },
      () => undefined,
    );
    this.#cdp.closeAll(1001, undefined);
  }

  /** Answers a request below `/wd/`; never rejects. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once("close", () => {
      gone.abort();
    });
    if (this.#running >= maxRunning) {
      request.resume();
      refuseCommand(response, tooMany);
      return;
    }
    this.#running += 1;
    try {
      const refusal = await this.#options.pause.admit(gone.signal);
      if (refusal !== undefined) refuseCommand(response, refusal);
      else if (pathOf(request) === sessionPath) await this.#create(request, response);
      else await this.#command(request, response, gone.signal);
    } catch (error) {
      if (response.headersSent) response.destroy();
      else refuseCommand(response, failed(error));
    } finally {
      this.#running -= 1;
      request.resume();
    }
  }

  async #create(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request, maxCapabilitiesBytes);
    const capabilities = body && objectIn(body);
    if (request.method !== "POST" || capabilities === undefined) {
      refuseCommand(response, { status: 400, code: "bad_request", message: "Send POST with capabilities as JSON." });
      return;
    }
    if (this.#session !== undefined) {
      refuseCommand(
        response,
        { status: 500, code: "internal_error", message: "The session has a driver." },
        notCreated,
      );
      return;
    }
    try {
      this.#session = this.#start(capabilities);
      const { capabilities: given, version } = await this.#session;
      const text = JSON.stringify({ value: { capabilities: given, driverVersion: version } });
      response
        .writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) })
        .end(text);
    } catch (error) {
      this.#session = undefined;
      refuseCommand(response, { status: 500, code: "internal_error", message: messageOf(error) }, notCreated);
    }
  }

  async #start(capabilities: object): Promise<DriverSession> {
    const session = await DriverSession.start(
      {
        ...this.#options,
        gateway: this.#cdp,
        onEnd: () => {
          this.closeAll();
        },
      },
      capabilities,
    );
    // The browser may have gone meanwhile.
    if (this.#session === undefined) {
      session.end();
      throw new DriverProblem("The browser was started again while its driver started. Try again.");
    }
    return session;
  }

  async #command(request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const [, path = ""] = commandPath.exec(request.url ?? "") ?? [];
    const { headers, method = "GET" } = request;
    if (path === "" || !["GET", "POST", "DELETE"].includes(method)) {
      refuseCommand(response, { status: 404, code: "not_found", message: "Unknown command." });
      return;
    }
    const session = await this.#session;
    if (session === undefined) {
      refuseCommand(response, gone, "invalid session id");
      return;
    }
    const { "content-length": length, "content-type": type } = headers;
    if (Number(length ?? 0) > maxRequestBytes) {
      refuseCommand(response, tooLarge);
      return;
    }
    const hasBody = length !== undefined || headers["transfer-encoding"] !== undefined;
    const answer = await session.send({
      method,
      // Grid's name of the driver's command.
      path: path === "/se/file" ? "/file" : path,
      headers: {
        ...(length !== undefined && { "content-length": length }),
        ...(type !== undefined && { "content-type": type }),
      },
      body: hasBody ? atMost(request, maxRequestBytes) : undefined,
      signal,
    });
    const bytes = answer.headers["content-length"];
    response.writeHead(answer.statusCode ?? 500, {
      "content-type": "application/json; charset=utf-8",
      ...(bytes !== undefined && { "content-length": bytes }),
    });
    await new Promise<void>((resolve) => {
      pipeline(atMost(answer, maxAnswerBytes), response, () => {
        resolve();
      });
    });
  }
}

const notCreated = "session not created";
const tooMany: Refusal = {
  status: 429,
  code: "too_many_requests",
  message: `${String(maxRunning)} commands of this session are running; wait for one of them.`,
};
const tooLarge: Refusal = {
  status: 413,
  code: "payload_too_large",
  message: `The command is larger than ${String(maxRequestBytes)} bytes.`,
};
const gone: Refusal = {
  status: 404,
  code: "not_found",
  message: "The driver of this session has ended, because its browser was started again. Create a new session.",
};

function failed(error: unknown): Refusal {
  return { status: 500, code: "internal_error", message: `chromedriver did not answer: ${messageOf(error)}.` };
}

function objectIn(body: Buffer): object | undefined {
  try {
    const value: unknown = JSON.parse(body.toString());
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
