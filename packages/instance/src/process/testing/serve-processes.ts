import { browserProcess } from "@shoal/contract";
import type { ExecResult, ProcessStatus, ProcessStreamEvent, SpawnedProcess } from "@shoal/schemas";
import { createHttpRouter } from "@shoal/router/http";
import { chmod, mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandEnvironment } from "../command.ts";
import { sessionProcesses } from "../handlers.ts";
import type { ProcessLimits } from "../limits.ts";

/** What an answer carried. */
export interface Answered<T> {
  readonly status: number;
  /** Of a success. */
  readonly body: T;
  /** Of an error. */
  readonly code: string | undefined;
  readonly message: string | undefined;
}

/** A frame of an output stream, with its text. */
export interface OutputFrame extends ProcessStreamEvent {
  readonly id: string;
  readonly text: string;
  /** Events that are missing here. */
  readonly missed?: number;
}

/** The process operations on a real socket, over a temporary directory that plays `/`. */
export interface ServedProcesses extends AsyncDisposable {
  readonly url: string;
  /** Directory of the host that plays `/`. */
  readonly root: string;
  exec(body: object, signal?: AbortSignal): Promise<Answered<ExecResult> & { readonly stdout: string; readonly stderr: string }>;
  spawn(body: object): Promise<Answered<SpawnedProcess>>;
  post(process: string, operation: string, body: object): Promise<Answered<Record<string, unknown>>>;
  status(process: string): Promise<Answered<ProcessStatus>>;
  /** Follows output, to its end. */
  output(process: string, options?: { readonly lastEventId?: string; readonly signal?: AbortSignal }): AsyncGenerator<OutputFrame>;
  /** All output of a process, when it has ended. */
  all(process: string): Promise<{ readonly stdout: string; readonly stderr: string; readonly exitCode: number | undefined }>;
  /** Every failure that was reported as a 500. */
  readonly faults: readonly unknown[];
}

/** Serves {@link sessionProcesses} for tests. */
export async function serveProcesses(limits: Partial<ProcessLimits> = {}): Promise<ServedProcesses> {
  const base = await realpath(await mkdtemp(join(tmpdir(), "shoal-process-")));
  const root = { directory: base, home: "/home/shoal" };
  await mkdir(join(base, "home/shoal"), { recursive: true });
  await mkdir(join(base, "tmp"));
  // For commands of other users.
  await chmod(base, 0o755);
  const faults: unknown[] = [];
  const router = createHttpRouter({ stripPrefix: "/browsers/{id}", context: () => undefined, onError: (error) => faults.push(error) });
  const processes = sessionProcesses({ root, ...commandEnvironment(root, { ...process.env, SHOAL_SESSION_DIR: base }, undefined) }, { limits });
  router.mountAll(browserProcess, processes.handlers);
  const server = createServer((request, response) => {
    router.handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;

  async function call<T>(path: string, body?: object, signal?: AbortSignal): Promise<Answered<T>> {
    const response = await fetch(`${url}/process/${path}`, {
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
      ...(signal !== undefined && { signal }),
    });
    const answer = (await response.json()) as T & { code?: string; message?: string };
    return { status: response.status, body: answer, code: response.ok ? undefined : answer.code, message: response.ok ? undefined : answer.message };
  }

  const served: ServedProcesses = {
    url,
    root: base,
    faults,
    async exec(body, signal) {
      const answer = await call<ExecResult>("exec", body, signal);
      const text = (base64: string | undefined) => Buffer.from(base64 ?? "", "base64").toString();
      return { ...answer, stdout: text(answer.body.stdout_b64), stderr: text(answer.body.stderr_b64) };
    },
    spawn: (body) => call("spawn", body),
    post: (id, operation, body) => call(`${id}/${operation}`, body),
    status: (id) => call(`${id}/status`),
    async *output(id, { lastEventId, signal } = {}) {
      const response = await fetch(`${url}/process/${id}/stdout/stream`, {
        headers: { "x-shoal-stream": "gaps", ...(lastEventId !== undefined && { "last-event-id": lastEventId }) },
        ...(signal !== undefined && { signal }),
      });
      if (response.body === null || !response.ok) throw new Error(`${String(response.status)} ${await response.text()}`);
      let rest = "";
      for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
        const frames = (rest + chunk).split("\n\n");
        rest = frames.pop() ?? "";
        for (const frame of frames) {
          const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(frame)?.[1];
          const data = field("data");
          if (data === undefined) continue;
          const id = field("id") ?? "";
          if (field("event") === "gap") yield { id, text: "", missed: (JSON.parse(data) as { missed: number }).missed };
          else {
            const event = JSON.parse(data) as ProcessStreamEvent;
            yield { ...event, id, text: Buffer.from(event.data_b64 ?? "", "base64").toString("latin1") };
          }
        }
      }
    },
    async all(id) {
      const found = { stdout: "", stderr: "", exitCode: undefined as number | undefined };
      for await (const { stream, text, exit_code } of served.output(id)) {
        found[stream === "stderr" ? "stderr" : "stdout"] += text;
        if (exit_code !== undefined) found.exitCode = exit_code;
      }
      return found;
    },
    async [Symbol.asyncDispose]() {
      await processes.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(base, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  return served;
}
