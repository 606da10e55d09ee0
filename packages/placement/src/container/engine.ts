import { messageOf } from "@shoal/primitives";
import { PlacementError } from "../interface/placement-error.ts";
import type { EngineAddress } from "./engine-address.ts";
import * as z from "zod/mini";
import { type ClientRequest, request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";

/** The engine refused a request or did not answer. */
export class EngineError extends Error {
  /** Of HTTP; `undefined` without an answer. */
  readonly status: number | undefined;

  constructor(message: string, status: number | undefined, cause?: unknown) {
    super(message, { cause });
    this.name = "EngineError";
    this.status = status;
  }
}

/** Returns the error of a start: an engine that does not answer may answer later. */
export function explainEngine(error: unknown): unknown {
  if (!(error instanceof EngineError) || error.status !== undefined) return error;
  return new PlacementError("unavailable", error.message, { cause: error });
}

export interface EngineVersion {
  readonly name: "docker" | "podman";
  readonly version: string;
}

const Version = z.object({
  Version: z.string(),
  Components: z.optional(z.nullable(z.array(z.object({ Name: z.string() })))),
});
const Created = z.object({ Id: z.string() });
const State = z.object({ State: z.object({ Pid: z.int() }) });
const Exited = z.object({ StatusCode: z.int() });
const Listed = z.array(
  z.object({ Id: z.string(), State: z.optional(z.string()), Labels: z.nullable(z.record(z.string(), z.string())) }),
);
const Info = z.object({ MemTotal: z.int() });
const Refusal = z.object({ message: z.string() });

/** The container waits for it, because output from before the attachment would be lost. */
const goLine = "go\n";

/** Milliseconds for requests that do not wait for a container. */
const answerMs = 60_000;
/** Milliseconds after which a silent machine is asked whether it still exists. */
const keepAliveMs = 15_000;

interface EngineRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly body?: unknown;
  /** Without a limit of time. */
  readonly waits?: boolean;
}

export interface LabelledContainer {
  readonly id: string;
  /** Of the label. */
  readonly value: string;
  /** `created`, `running`, `exited` and others. */
  readonly state: string;
}

/** The HTTP API of Docker, which Podman also serves. The engine is trusted: its socket is as good as root. */
export class ContainerEngine {
  readonly #address: EngineAddress;

  constructor(address: EngineAddress) {
    this.#address = address;
  }

  /** As the user wrote it. */
  get name(): string {
    return this.#address.name;
  }

  async version(): Promise<EngineVersion> {
    const { Version: version, Components: parts } = Version.parse(
      await this.#json({ method: "GET", path: "/version" }),
    );
    const isPodman = parts?.some(({ Name: name }) => name.startsWith("Podman")) === true;
    return { name: isPodman ? "podman" : "docker", version };
  }

  /** Bytes of memory of its machine. */
  async memoryBytes(): Promise<number> {
    return Info.parse(await this.#json({ method: "GET", path: "/info" })).MemTotal;
  }

  async hasImage(image: string): Promise<boolean> {
    try {
      await this.#json({ method: "GET", path: `/images/${encodeURIComponent(image)}/json` });
      return true;
    } catch (error) {
      if (error instanceof EngineError && error.status === 404) return false;
      throw error;
    }
  }

  /** @param spec - the body of `ContainerCreate`. @returns its id. */
  async create(name: string, spec: object): Promise<string> {
    const path = `/containers/create?name=${encodeURIComponent(name)}`;
    return Created.parse(await this.#json({ method: "POST", path, body: spec })).Id;
  }

  /** Of its first process, on this machine. */
  async pidOf(id: string): Promise<number> {
    return State.parse(await this.#json({ method: "GET", path: `/containers/${id}/json` })).State.Pid;
  }

  /** Resolves with the exit code when the container has ended. */
  async ended(id: string): Promise<number> {
    const path = `/containers/${id}/wait?condition=not-running`;
    return Exited.parse(await this.#json({ method: "POST", path, waits: true })).StatusCode;
  }

  async setMemory(id: string, bytes: number): Promise<void> {
    const body = { Memory: bytes, MemorySwap: bytes };
    await this.#send({ method: "POST", path: `/containers/${id}/update`, body });
  }

  async kill(id: string): Promise<void> {
    await this.#send({ method: "POST", path: `/containers/${id}/kill?signal=SIGKILL` });
  }

  /** Kills and removes it, with its volumes. Succeeds if it does not exist. */
  async remove(id: string): Promise<void> {
    try {
      await this.#send({ method: "DELETE", path: `/containers/${id}?force=true&v=true` });
    } catch (error) {
      // 409: another request removes it already.
      if (!(error instanceof EngineError) || (error.status !== 404 && error.status !== 409)) throw error;
    }
  }

  /** All containers with the label, also ended ones. */
  async labelled(label: string): Promise<readonly LabelledContainer[]> {
    const filters = encodeURIComponent(JSON.stringify({ label: [label] }));
    const found = Listed.parse(
      await this.#json({ method: "GET", path: `/containers/json?all=true&filters=${filters}` }),
    );
    return found.map(({ Id: id, Labels: labels, State: state = "" }) => ({ id, value: labels?.[label] ?? "", state }));
  }

  /** Starts a container that waits for a line of input. Returns its input and, in frames, its outputs. */
  async startAttached(id: string): Promise<Socket> {
    const sent = Promise.withResolvers<void>();
    const attaching = this.#attach(id, sent.resolve);
    // Docker answers before the container starts, Podman when it starts.
    await Promise.race([attaching, sent.promise]);
    const [attached, started] = await Promise.allSettled([
      attaching,
      this.#send({ method: "POST", path: `/containers/${id}/start` }),
    ]);
    if (started.status === "rejected") {
      if (attached.status === "fulfilled") attached.value.destroy();
      throw started.reason;
    }
    // Podman refuses an attachment that it receives while it starts the container, which still waits for its line.
    const socket = attached.status === "fulfilled" ? attached.value : await this.#attach(id);
    socket.write(goLine);
    return socket;
  }

  #attach(id: string, onSent?: () => void): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const request = this.#open({
        method: "POST",
        path: `/containers/${id}/attach?stream=true&stdin=true&stdout=true&stderr=true`,
        headers: { connection: "Upgrade", upgrade: "tcp" },
      });
      request.on("upgrade", (_answer, socket, head) => {
        if (head.length > 0) socket.unshift(head);
        socket.setKeepAlive(true, keepAliveMs);
        resolve(socket);
      });
      request.on("response", (answer) => {
        text(answer).then(
          (received) => {
            reject(new EngineError(`Cannot attach to a container: ${reasonOf(received)}`, answer.statusCode));
          },
          (error: unknown) => {
            reject(this.#unanswered(error));
          },
        );
      });
      request.on("error", (error) => {
        reject(this.#unanswered(error));
      });
      if (onSent !== undefined) request.on("finish", onSent);
      request.end();
    });
  }

  async #json(request: EngineRequest): Promise<unknown> {
    return JSON.parse(await this.#send(request));
  }

  #send({ method, path, body, waits = false }: EngineRequest): Promise<string> {
    const document = body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const request = this.#open({
        method,
        path,
        headers: { ...(document !== undefined && { "content-type": "application/json" }) },
        ...(!waits && { signal: AbortSignal.timeout(answerMs) }),
      });
      request.on("response", (answer) => {
        const status = answer.statusCode ?? 0;
        text(answer).then(
          (received) => {
            if (status >= 400) reject(new EngineError(`${method} ${path}: ${reasonOf(received)}`, status));
            else resolve(received);
          },
          (error: unknown) => {
            reject(this.#unanswered(error));
          },
        );
      });
      request.on("socket", (socket) => socket.setKeepAlive(true, keepAliveMs));
      request.on("error", (error) => {
        reject(this.#unanswered(error));
      });
      request.end(document);
    });
  }

  #open(options: RequestOptions): ClientRequest {
    const { connection, tls } = this.#address;
    return (tls ? httpsRequest : httpRequest)({ ...connection, ...options });
  }

  #unanswered(error: unknown): EngineError {
    return new EngineError(`The engine at ${this.name} does not answer: ${messageOf(error)}`, undefined, error);
  }
}

function reasonOf(answer: string): string {
  try {
    return Refusal.parse(JSON.parse(answer)).message;
  } catch {
    return answer.slice(0, 500);
  }
}
