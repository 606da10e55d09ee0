import { dirname } from "node:path";
import type { ContextProxy } from "../../egress/context-proxy.ts";
import { startChildProgram, type ChildProgram } from "../../system/child-program.ts";
import type { AdmittedMessage, CloseMessage, OpenMessage } from "./messages.ts";

export interface BindingProcessOptions {
  readonly program: string;
  readonly cacheDir: string | undefined;
  /** Folder of all its files. It can read nothing else of the session, and write nothing else. */
  readonly folder: string;
  /** Answers a request that is about to leave. */
  readonly admit: (proxy: ContextProxy | undefined) => Promise<Pick<AdmittedMessage, "port" | "refusal">>;
  /** Called once, also if it could not be started. */
  readonly onExit: () => void;
}

export interface BoundEndpoint {
  readonly port: number;
  readonly path: string;
}

type Fields = Readonly<Partial<Record<"ask" | "id" | "message" | "path" | "port" | "proxy" | "type", unknown>>>;

/** Playwright looks at these when it is loaded, to know the system. */
const systemFiles = ["/proc/sys/fs/binfmt_misc/WSLInterop", "/run/WSL", "/etc/os-release"];
/** Traces and screenshots of several clients. Buffers are outside this limit, and count for the session. */
const maxHeapMiB = 768;

/**
 * A process that serves Playwright's protocol. Clients can send anything to it, so it has no access to files outside its
 * folder, starts no programs and connects only to the CDP gateway and the egress forwarder.
 */
export class BindingProcess {
  readonly #options: BindingProcessOptions;
  readonly #program: ChildProgram;
  readonly #opening = new Map<number, PromiseWithResolvers<BoundEndpoint>>();
  readonly #ready = Promise.withResolvers<void>();

  constructor(options: BindingProcessOptions) {
    this.#options = options;
    this.#program = startBinding(options);
    this.#ready.promise.catch(() => undefined);
    const { process: child } = this.#program;
    const onEnd = () => {
      child
        .off("error", onEnd)
        .off("exit", onEnd)
        .on("error", () => undefined);
      this.#end();
    };
    child.on("error", onEnd).on("exit", onEnd);
    child.on("message", (message: unknown) => {
      if (typeof message === "object" && message !== null) this.#take(message);
    });
  }

  async open(message: Omit<OpenMessage, "type">): Promise<BoundEndpoint> {
    await this.#ready.promise;
    const opened = Promise.withResolvers<BoundEndpoint>();
    this.#opening.set(message.id, opened);
    this.#send({ type: "open", ...message });
    return opened.promise;
  }

  close(id: number): void {
    this.#opening.get(id)?.reject(new Error("the client has gone"));
    this.#opening.delete(id);
    this.#send({ type: "close", id });
  }

  kill(): void {
    this.#program.kill();
  }

  #end(): void {
    // Also what it may have started.
    this.#program.kill();
    const error = new Error("the process of Playwright's protocol ended");
    this.#ready.reject(error);
    for (const opened of this.#opening.values()) opened.reject(error);
    this.#opening.clear();
    this.#options.onExit();
  }

  #send(message: OpenMessage | CloseMessage | AdmittedMessage): void {
    const { process: child } = this.#program;
    if (child.connected) child.send(message, () => undefined);
  }

  /** Every field may be forged. */
  #take({ ask, id, message, path, port, proxy, type }: Fields): void {
    if (type === "ready") this.#ready.resolve();
    else if (type === "admit" && typeof ask === "number") void this.#admit(ask, proxy);
    else if (typeof id === "number") {
      const opened = this.#opening.get(id);
      this.#opening.delete(id);
      if (type === "opened" && isPort(port) && typeof path === "string" && /^\/[\w-]{1,100}$/.test(path))
        opened?.resolve({ port, path });
      else opened?.reject(new Error(typeof message === "string" ? message : "it could not be opened"));
    }
  }

  async #admit(ask: number, proxy: unknown): Promise<void> {
    const answer = isContextProxy(proxy)
      ? await this.#options.admit(proxy)
      : { refusal: "The proxy of the browser context is not valid." };
    this.#send({ type: "admitted", ask, ...answer });
  }
}

function startBinding({ cacheDir, folder, program }: BindingProcessOptions): ChildProgram {
  const readable = [dirname(program), folder, ...systemFiles, ...(cacheDir === undefined ? [] : [cacheDir])];
  return startChildProgram({
    program,
    directory: folder,
    args: ["--playwright-binding", cacheDir ?? ""],
    nodeOptions: [
      `--max-old-space-size=${String(maxHeapMiB)}`,
      "--permission",
      ...readable.map((path) => `--allow-fs-read=${path}`),
      `--allow-fs-write=${folder}`,
    ],
    environment: { TMPDIR: folder, HOME: folder, PWTEST_SERVER_REGISTRY: folder },
  });
}

function isPort(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0 && value < 65_536;
}

function isContextProxy(value: unknown): value is ContextProxy | undefined {
  if (value === undefined || value === null) return true;
  if (typeof value !== "object") return false;
  const { bypassHosts, url } = value as Partial<Record<keyof ContextProxy, unknown>>;
  return typeof url === "string" && Array.isArray(bypassHosts) && bypassHosts.every((host) => typeof host === "string");
}
