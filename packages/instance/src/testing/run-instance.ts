import { eventually, waitLimitMs } from "@shoal/testkit";
import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { type ClientRequest, request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { text as textOf } from "node:stream/consumers";
import { WebSocket } from "ws";
import * as z from "zod/mini";
import { InstanceEvent, instanceProgramPath, type AssignInstance, type InstanceConfig } from "../index.ts";
import { startEgressProxy, type EgressProxy } from "./egress-proxy.ts";
import { processesWith } from "./processes.ts";

export interface RunningInstance extends AsyncDisposable {
  readonly process: ChildProcess;
  readonly config: TestConfig;
  readonly egress: EgressProxy;
  readonly events: readonly InstanceEvent[];
  /** Resolves with the first matching event, including past ones. */
  event(fits: (event: InstanceEvent) => boolean): Promise<InstanceEvent>;
  /** Resolves when the browser is ready; with `after`, when it is ready again after that event. */
  ready(after?: InstanceEvent): Promise<void>;
  assign(assign: Partial<AssignInstance>): Promise<number>;
  call(
    method: string,
    path: string,
    body?: string,
    headers?: OutgoingHttpHeaders,
  ): Promise<{ status: number; headers: IncomingMessage["headers"]; text: string }>;
  /** Resolves when the answer of a stream has begun: a stream counts as use, and misses nothing from then on. */
  follow(path: string): Promise<{ readonly text: Promise<string> }>;
  connect(path?: string): Promise<WebSocket>;
  readonly exited: Promise<number | string | null>;
  browserPids(): number[];
  stderr(): string;
}

type TestConfig = InstanceConfig & { readonly listen_path: string };

export interface RunOptions {
  readonly chromium: Pick<InstanceConfig["chromium"], "kind" | "executable" | "full">;
  readonly cacheDir?: string;
}

export async function runInstance({ chromium, cacheDir }: RunOptions): Promise<RunningInstance> {
  if (!existsSync(instanceProgramPath))
    throw new Error(`${instanceProgramPath} does not exist: run \`pnpm build\` first.`);
  // Short, because the directory contains Unix sockets.
  const directory = await mkdtemp(join(tmpdir(), "shoal-i-"));
  const config: TestConfig = {
    instance_id: "test",
    listen_path: join(directory, "listen"),
    egress_path: join(directory, "egress"),
    root: join(directory, "root"),
    home: "/home/shoal",
    session_dir: join(directory, "session"),
    chromium: { ...chromium, inner_sandbox: process.getuid?.() !== 0 },
    viewport: { width: 1920, height: 1080 },
    ...(cacheDir !== undefined && { cache_dir: cacheDir }),
  };
  await mkdir(config.root);
  const egress = await startEgressProxy(config.egress_path);
  const program = new InstanceProgram(config);
  await program.listening();
  return new ProgramRun(program, { directory, egress, feed: new EventFeed(config.listen_path) });
}

class InstanceProgram {
  readonly config: TestConfig;
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly exited: Promise<number | string | null>;
  #stderr = "";

  constructor(config: TestConfig) {
    this.config = config;
    this.process = spawn(process.execPath, [instanceProgramPath], {
      env: { ...process.env, SHOAL_INSTANCE: JSON.stringify(config) },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.process.stderr.setEncoding("utf8").on("data", (text: string) => (this.#stderr += text));
    this.exited = new Promise((resolve) => {
      this.process.on("exit", (code, signal) => {
        resolve(signal ?? code);
      });
    });
  }

  get stderr(): string {
    return this.#stderr;
  }

  async listening(): Promise<void> {
    const lines = createInterface(this.process.stdout);
    const first = await Promise.race([
      new Promise<string>((resolve) => lines.once("line", resolve)),
      this.exited.then((code) => `exited: ${String(code)} ${this.#stderr}`),
    ]);
    if (first !== '{"listening":true}') throw new Error(`The instance said ${first}`);
  }

  /** Ends the program, with a signal if it does not end on its own. */
  async end(): Promise<void> {
    this.process.stdin.end();
    const timer = setTimeout(() => this.process.kill("SIGKILL"), waitLimitMs);
    await this.exited;
    clearTimeout(timer);
  }
}

class EventFeed {
  readonly events: InstanceEvent[] = [];
  readonly #watchers = new Set<() => void>();
  readonly #request: ClientRequest;

  constructor(socketPath: string) {
    this.#request = httpRequest({ socketPath, path: "/_instance/events" }, (response) => {
      const reader = createInterface(response);
      reader.on("line", (line) => {
        this.events.push(z.parse(InstanceEvent, JSON.parse(line)));
        for (const watcher of this.#watchers) watcher();
      });
      // A killed instance breaks the connection.
      for (const source of [response, reader]) source.on("error", () => undefined);
    });
    this.#request.on("error", () => undefined);
    this.#request.end();
  }

  find(fits: (event: InstanceEvent) => boolean): Promise<InstanceEvent> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = this.events.find(fits);
        if (found === undefined) return;
        this.#watchers.delete(look);
        resolve(found);
      };
      this.#watchers.add(look);
      look();
    });
  }

  close(): void {
    this.#request.destroy();
  }
}

interface ProgramRunOptions {
  readonly directory: string;
  readonly egress: EgressProxy;
  readonly feed: EventFeed;
}

class ProgramRun implements RunningInstance {
  readonly process: ChildProcess;
  readonly config: TestConfig;
  readonly egress: EgressProxy;
  readonly events: readonly InstanceEvent[];
  readonly exited: Promise<number | string | null>;
  readonly #program: InstanceProgram;
  readonly #directory: string;
  readonly #feed: EventFeed;

  constructor(program: InstanceProgram, { directory, egress, feed }: ProgramRunOptions) {
    this.#program = program;
    this.#directory = directory;
    this.#feed = feed;
    this.process = program.process;
    this.config = program.config;
    this.egress = egress;
    this.events = feed.events;
    this.exited = program.exited;
  }

  stderr(): string {
    return this.#program.stderr;
  }

  event(fits: (event: InstanceEvent) => boolean): Promise<InstanceEvent> {
    return this.#feed.find(fits);
  }

  async ready(after?: InstanceEvent): Promise<void> {
    await this.event(
      (event) =>
        (event.type === "ready" || (event.type === "state" && event.browser === "ready")) &&
        (after === undefined || this.events.indexOf(event) > this.events.indexOf(after)),
    );
  }

  async assign(assign: Partial<AssignInstance>): Promise<number> {
    const { status } = await this.call(
      "POST",
      "/_instance/assign",
      JSON.stringify({ session_id: "session", timeout_seconds: 3_600, ...assign }),
    );
    return status;
  }

  readonly call: RunningInstance["call"] = (method, path, body, headers) =>
    new Promise((resolve, reject) => {
      const sent = httpRequest(
        {
          socketPath: this.config.listen_path,
          method,
          path,
          headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
        },
        (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
          response.on("end", () => {
            resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
          });
          response.on("error", reject);
        },
      );
      sent.on("error", reject);
      sent.end(body);
    });

  follow(path: string): Promise<{ readonly text: Promise<string> }> {
    return new Promise((resolve, reject) => {
      httpRequest({ socketPath: this.config.listen_path, path }, (response) => {
        resolve({ text: textOf(response) });
      })
        .on("error", reject)
        .end();
    });
  }

  connect(path = "/cdp"): Promise<WebSocket> {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(`ws+unix://${this.config.listen_path}:${path}`, {
        perMessageDeflate: true,
        maxPayload: 512 * 2 ** 20,
      });
      socket.once("open", () => {
        socket.off("error", reject);
        resolve(socket);
      });
      socket.once("error", reject);
    });
  }

  browserPids(): number[] {
    return processesWith(this.config.session_dir);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program.end();
    this.#feed.close();
    await this.egress.close();
    // The browser of a killed instance ends a moment later, and may still write files.
    await eventually("its browser ends", () => this.browserPids().length === 0);
    await rm(this.#directory, { recursive: true, force: true, maxRetries: 20 });
  }
}

const disconnected = { error: { message: "The connection has closed." } };

/** Commands of a closed connection are answered with an error, so that no test waits for them. */
export function cdpClient(socket: WebSocket): {
  send(method: string, params?: object, sessionId?: string): Promise<Record<string, unknown>>;
  readonly closed: Promise<{ code: number; reason: string }>;
} {
  let nextId = 1;
  const pending = new Map<number, (message: Record<string, unknown>) => void>();
  socket.on("message", (data: Buffer) => {
    const message = JSON.parse(data.toString()) as Record<string, unknown>;
    if (typeof message.id === "number") pending.get(message.id)?.(message);
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on("close", (code, reason) => {
      resolve({ code, reason: reason.toString() });
      for (const answer of pending.values()) answer(disconnected);
    });
  });
  socket.on("error", () => undefined);
  return {
    closed,
    send: (method, params, sessionId) =>
      new Promise((resolve) => {
        if (socket.readyState === WebSocket.CLOSED) {
          resolve(disconnected);
          return;
        }
        const id = nextId++;
        pending.set(id, resolve);
        socket.send(JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) }));
      }),
  };
}

/** Returns the session of the first page. */
export async function attachToPage(client: ReturnType<typeof cdpClient>): Promise<string> {
  const { result } = (await client.send("Target.getTargets")) as {
    result: { targetInfos: { type: string; targetId: string }[] };
  };
  const targetId = result.targetInfos.find(({ type }) => type === "page")?.targetId;
  const attached = (await client.send("Target.attachToTarget", { targetId, flatten: true })) as {
    result: { sessionId: string };
  };
  return attached.result.sessionId;
}
