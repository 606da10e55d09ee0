import { spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { WebSocket } from "ws";
import * as z from "zod/mini";
import { InstanceEvent, instanceProgramPath, type AssignInstance, type InstanceConfig } from "../index.ts";
import { startEgressProxy, type EgressProxy } from "./egress-proxy.ts";
import { processesWith } from "./processes.ts";

/** An instance program that runs, in a process placement's way. */
export interface RunningInstance extends AsyncDisposable {
  readonly process: ChildProcess;
  readonly config: InstanceConfig;
  readonly egress: EgressProxy;
  /** Every event so far. */
  readonly events: readonly InstanceEvent[];
  /** Resolves with the first event that fits, a past one too. */
  event(fits: (event: InstanceEvent) => boolean): Promise<InstanceEvent>;
  /** Resolves when the browser answers, told as it came up or found so by a feed that was opened later; the one after a restart where `after` is what told of it. */
  ready(after?: InstanceEvent): Promise<void>;
  assign(assign: Partial<AssignInstance>): Promise<number>;
  call(
    method: string,
    path: string,
    body?: string,
    headers?: OutgoingHttpHeaders,
  ): Promise<{ status: number; headers: IncomingMessage["headers"]; text: string }>;
  /** A WebSocket that is open. */
  connect(path?: string): Promise<WebSocket>;
  /** Resolves with the exit code, or the signal. */
  readonly exited: Promise<number | string | null>;
  /** Process ids of the browser and all its children. */
  browserPids(): number[];
  stderr(): string;
}

export interface RunOptions {
  readonly chromium: Pick<InstanceConfig["chromium"], "kind" | "executable" | "full">;
  readonly cacheDir?: string;
}

export async function runInstance({ chromium, cacheDir }: RunOptions): Promise<RunningInstance> {
  if (!existsSync(instanceProgramPath)) throw new Error(`${instanceProgramPath} does not exist: run \`pnpm build\` first.`);
  // Short, for what is named in it are Unix sockets.
  const directory = await mkdtemp(join(tmpdir(), "shoal-i-"));
  const config: InstanceConfig = {
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
  const child = spawn(process.execPath, [instanceProgramPath], {
    env: { ...process.env, SHOAL_INSTANCE: JSON.stringify(config) },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const exited = new Promise<number | string | null>((resolve) => {
    child.on("exit", (code, signal) => {
      resolve(signal ?? code);
    });
  });
  const lines = createInterface(child.stdout);
  const first = await Promise.race([
    new Promise<string>((resolve) => lines.once("line", resolve)),
    exited.then((code) => `exited: ${String(code)} ${stderr}`),
  ]);
  if (first !== '{"listening":true}') throw new Error(`The instance said ${first}`);

  const events: InstanceEvent[] = [];
  const watchers = new Set<() => void>();
  const feed = httpRequest({ socketPath: config.listen_path, path: "/_instance/events" }, (response) => {
    const reader = createInterface(response);
    reader.on("line", (line) => {
      events.push(z.parse(InstanceEvent, JSON.parse(line)));
      for (const watcher of watchers) watcher();
    });
    // A killed instance breaks off.
    for (const source of [response, reader]) source.on("error", () => undefined);
  });
  feed.on("error", () => undefined);
  feed.end();

  const run: RunningInstance = {
    process: child,
    config,
    egress,
    events,
    exited,
    stderr: () => stderr,
    event: (fits) =>
      new Promise((resolve) => {
        function look(): void {
          const found = events.find(fits);
          if (found === undefined) return;
          watchers.delete(look);
          resolve(found);
        }
        watchers.add(look);
        look();
      }),
    async ready(after) {
      await run.event(
        (event) =>
          (event.type === "ready" || (event.type === "state" && event.browser === "ready")) &&
          (after === undefined || events.indexOf(event) > events.indexOf(after)),
      );
    },
    async assign(assign) {
      const { status } = await run.call("POST", "/_instance/assign", JSON.stringify({ session_id: "session", timeout_seconds: 60, ...assign }));
      return status;
    },
    call: (method, path, body, headers) =>
      new Promise((resolve, reject) => {
        const sent = httpRequest(
          {
            socketPath: config.listen_path,
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
      }),
    connect: (path = "/cdp") =>
      new Promise((resolve, reject) => {
        const socket = new WebSocket(`ws+unix://${config.listen_path}:${path}`, { perMessageDeflate: true, maxPayload: 512 * 2 ** 20 });
        socket.once("open", () => {
          socket.off("error", reject);
          resolve(socket);
        });
        socket.once("error", reject);
      }),
    browserPids: () => processesWith(config.session_dir),
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      const timer = setTimeout(() => child.kill("SIGKILL"), 30_000);
      await exited;
      clearTimeout(timer);
      feed.destroy();
      await egress.close();
      // Where it was killed its browser ends a moment later, and writes until then.
      for (let waits = 0; processesWith(config.session_dir).length > 0 && waits < 500; waits++) await delay(20);
      await rm(directory, { recursive: true, force: true, maxRetries: 20 });
    },
  };
  return run;
}

/** A CDP client over a WebSocket, as small as tests need it. */
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
    });
  });
  socket.on("error", () => undefined);
  return {
    closed,
    send: (method, params, sessionId) =>
      new Promise((resolve) => {
        const id = nextId++;
        pending.set(id, resolve);
        socket.send(JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) }));
      }),
  };
}
