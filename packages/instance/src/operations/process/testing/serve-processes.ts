import { browserProcess } from "@shoal/contract";
import type { ExecResult, ProcessStatus, ProcessStreamEvent, SpawnedProcess } from "@shoal/schemas";
import { HttpRouter } from "@shoal/router/http";
import { chmod, mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandEnvironment } from "../command.ts";
import { sessionProcesses } from "../handlers.ts";
import type { ProcessLimits } from "../limits.ts";

export interface Answered<T> {
  readonly status: number;
  readonly body: T;
  readonly code: string | undefined;
  readonly message: string | undefined;
}

export interface OutputFrame extends ProcessStreamEvent {
  readonly id: string;
  readonly text: string;
  /** Number of missing events. */
  readonly missed?: number;
}

export interface ServedProcesses extends AsyncDisposable {
  readonly url: string;
  readonly root: string;
  exec(
    body: object,
    signal?: AbortSignal,
  ): Promise<Answered<ExecResult> & { readonly stdout: string; readonly stderr: string }>;
  spawn(body: object): Promise<Answered<SpawnedProcess>>;
  post(process: string, operation: string, body: object): Promise<Answered<Record<string, unknown>>>;
  status(process: string): Promise<Answered<ProcessStatus>>;
  output(
    process: string,
    options?: { readonly lastEventId?: string; readonly signal?: AbortSignal },
  ): AsyncGenerator<OutputFrame>;
  all(
    process: string,
  ): Promise<{ readonly stdout: string; readonly stderr: string; readonly exitCode: number | undefined }>;
  readonly faults: readonly unknown[];
}

export async function serveProcesses(limits: Partial<ProcessLimits> = {}): Promise<ServedProcesses> {
  const base = await realpath(await mkdtemp(join(tmpdir(), "shoal-process-")));
  const root = { directory: base, home: "/home/shoal" };
  await mkdir(join(base, "home/shoal"), { recursive: true });
  await mkdir(join(base, "tmp"));
  // For commands of other users.
  await chmod(base, 0o755);
  const faults: unknown[] = [];
  const router = new HttpRouter({
    stripPrefix: "/browsers/{id}",
    context: () => undefined,
    onError: (error) => faults.push(error),
  });
  const processes = sessionProcesses(
    { root, ...commandEnvironment(root, { ...process.env, SHOAL_SESSION_DIR: base }, undefined) },
    { limits },
  );
  router.mountAll(browserProcess, processes.handlers);
  const server = createServer((request, response) => {
    router.handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return new ProcessesOnSocket({
    url,
    root: base,
    faults,
    async close() {
      await processes.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(base, { recursive: true, force: true, maxRetries: 5 });
    },
  });
}

interface ProcessesOnSocketOptions extends Pick<ServedProcesses, "url" | "root" | "faults"> {
  readonly close: () => Promise<void>;
}

class ProcessesOnSocket implements ServedProcesses {
  readonly url: string;
  readonly root: string;
  readonly faults: readonly unknown[];
  readonly #close: () => Promise<void>;

  constructor({ url, root, faults, close }: ProcessesOnSocketOptions) {
    this.url = url;
    this.root = root;
    this.faults = faults;
    this.#close = close;
  }

  readonly exec: ServedProcesses["exec"] = async (body, signal) => {
    const answer = await this.#call<ExecResult>("exec", body, signal);
    const text = (base64: string | undefined) => Buffer.from(base64 ?? "", "base64").toString();
    return { ...answer, stdout: text(answer.body.stdout_b64), stderr: text(answer.body.stderr_b64) };
  };

  spawn(body: object): Promise<Answered<SpawnedProcess>> {
    return this.#call("spawn", body);
  }

  post(id: string, operation: string, body: object): Promise<Answered<Record<string, unknown>>> {
    return this.#call(`${id}/${operation}`, body);
  }

  status(id: string): Promise<Answered<ProcessStatus>> {
    return this.#call(`${id}/status`);
  }

  async *output(
    id: string,
    { lastEventId, signal }: { readonly lastEventId?: string; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<OutputFrame> {
    const response = await fetch(`${this.url}/process/${id}/stdout/stream`, {
      headers: { "x-shoal-stream": "gaps", ...(lastEventId !== undefined && { "last-event-id": lastEventId }) },
      ...(signal !== undefined && { signal }),
    });
    if (response.body === null || !response.ok) throw new Error(`${String(response.status)} ${await response.text()}`);
    let rest = "";
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      const frames = (rest + chunk).split("\n\n");
      rest = frames.pop() ?? "";
      for (const frame of frames) yield* outputFrameIn(frame);
    }
  }

  readonly all: ServedProcesses["all"] = async (id) => {
    const found = { stdout: "", stderr: "", exitCode: undefined as number | undefined };
    for await (const { stream, text, exit_code } of this.output(id)) {
      found[stream === "stderr" ? "stderr" : "stdout"] += text;
      if (exit_code !== undefined) found.exitCode = exit_code;
    }
    return found;
  };

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }

  async #call<T>(path: string, body?: object, signal?: AbortSignal): Promise<Answered<T>> {
    const response = await fetch(`${this.url}/process/${path}`, {
      ...(body !== undefined && {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
      }),
      ...(signal !== undefined && { signal }),
    });
    const answer = (await response.json()) as T & { code?: string; message?: string };
    return {
      status: response.status,
      body: answer,
      code: response.ok ? undefined : answer.code,
      message: response.ok ? undefined : answer.message,
    };
  }
}

function* outputFrameIn(frame: string): Generator<OutputFrame> {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(frame)?.[1];
  const data = field("data");
  if (data === undefined) return;
  const id = field("id") ?? "";
  if (field("event") === "gap") yield { id, text: "", missed: (JSON.parse(data) as { missed: number }).missed };
  else {
    const event = JSON.parse(data) as ProcessStreamEvent;
    yield { ...event, id, text: Buffer.from(event.data_b64 ?? "", "base64").toString("latin1") };
  }
}
