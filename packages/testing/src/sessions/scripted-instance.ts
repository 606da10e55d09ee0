import { browserFs, contract, type Endpoint } from "@shoal/contract";
import { type AssignInstance, instanceControl, packProfile } from "@shoal/instance";
import { sessionFileOperations } from "@shoal/instance/files";
import {
  type Instance,
  type InstanceCopy,
  type InstanceEnd,
  type InstanceRequest,
  PlacementError,
} from "@shoal/placement";
import { createId } from "@shoal/primitives";
import { type Handler, IdempotencyMemory, ServiceError } from "@shoal/router";
import { HttpRouter } from "@shoal/router/http";
import { once } from "node:events";
import { cp, mkdir, rm } from "node:fs/promises";
import { Agent, createServer, type IncomingMessage, request as httpRequest, type Server } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { PassThrough, pipeline, Readable } from "node:stream";

const home = "/home/shoal";
const hint = "Add behaviour with fake.handle(), or run this test against a real service.";
const shownPage = { tab: "1", title: "", navigated: true, settled: true } as const;
const emptyProfile = { version: 1, apply: "all", cookies: [], origins: [] } as const;

export interface ScriptedInstanceOptions {
  readonly assign: AssignInstance;
  /** Of this instance alone; it creates and removes it. */
  readonly folder: string;
  readonly socketPath: string;
  /** Files of another session, which it starts with. */
  readonly copyOf: FilesCopy | undefined;
  /** Archive of the profile that the session started with. */
  readonly profile: Buffer | undefined;
}

const copyOptions = { recursive: true, verbatimSymlinks: true } as const;

export const noSnapshots = (): ServiceError =>
  new ServiceError(501, "not_implemented", "The fake of @shoal/testing has no exact snapshots.", { hint });

/** The files of a session at one moment. */
export class FilesCopy implements InstanceCopy {
  readonly pausedMs = 0;
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  pack(): Promise<never> {
    return Promise.reject(noSnapshots());
  }

  drop(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The place of a session without a browser: it keeps files in a folder. Other operations of a browser answer 501. */
export class ScriptedInstance implements Instance {
  readonly id = createId();
  readonly pid = undefined;
  readonly kind = "process";
  readonly sessionId: string;
  readonly ended: Promise<InstanceEnd>;
  readonly exitHeaders = undefined;
  readonly upstream = undefined;
  readonly sleep: Instance["sleep"] = {
    asleepSinceMs: undefined,
    after: () => undefined,
    touch: () => undefined,
    onChange: () => () => undefined,
  };
  readonly #options: ScriptedInstanceOptions;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #files: ReturnType<typeof sessionFileOperations>;
  readonly #telemetry = new Set<PassThrough>();
  readonly #ending = Promise.withResolvers<InstanceEnd>();
  readonly #server: Server;
  #end: Promise<void> | undefined;

  private constructor(options: ScriptedInstanceOptions) {
    this.#options = options;
    this.sessionId = options.assign.session_id;
    this.ended = this.#ending.promise;
    this.#files = sessionFileOperations({
      directory: join(options.folder, "root"),
      home,
      spoolDirectory: options.folder,
    });
    const [operations, control] = [this.#operations(), this.#control()];
    this.#server = createServer((request, response) => {
      (request.url?.startsWith("/_instance/") === true ? control : operations)(request, response);
    });
  }

  static async start(options: ScriptedInstanceOptions): Promise<ScriptedInstance> {
    const root = join(options.folder, "root");
    for (const folder of [`${home}/Downloads`, "/tmp"]) await mkdir(join(root, folder), { recursive: true });
    if (options.copyOf !== undefined) await cp(options.copyOf.folder, root, copyOptions);
    const instance = new ScriptedInstance(options);
    instance.#server.listen(options.socketPath);
    await once(instance.#server, "listening");
    return instance;
  }

  request({ headers, method, path, signal }: InstanceRequest, body?: Readable | string): Promise<IncomingMessage> {
    if (this.#end !== undefined) return Promise.reject(this.#lost());
    const { agent, socketPath } = { agent: this.#agent, socketPath: this.#options.socketPath };
    return new Promise((resolve, reject) => {
      const request = httpRequest({
        agent,
        socketPath,
        method,
        path,
        ...(headers && { headers }),
        ...(signal && { signal }),
      });
      request.on("response", resolve).on("error", (cause) => {
        reject(signal?.aborted === true && signal.reason instanceof Error ? signal.reason : this.#lost(cause));
      });
      if (body === undefined || typeof body === "string") request.end(body);
      else pipeline(body, request, () => undefined);
    });
  }

  async connect(): Promise<Socket> {
    if (this.#end !== undefined) throw this.#lost();
    const socket = connect(this.#options.socketPath);
    await once(socket, "connect");
    return socket;
  }

  setUpstream(): void {
    // No page loads.
  }

  setExitHeaders(): void {
    // No page loads.
  }

  setRules(): void {
    // No page loads.
  }

  setLocale(): Promise<void> {
    return Promise.resolve();
  }

  setPolicies(): Promise<string> {
    return Promise.resolve("0");
  }

  async copy(): Promise<FilesCopy> {
    const copy = new FilesCopy(`${this.#options.folder}-${createId()}`);
    await cp(join(this.#options.folder, "root"), copy.folder, copyOptions);
    return copy;
  }

  transferred(): { sentBytes: number; receivedBytes: number } {
    return { sentBytes: 0, receivedBytes: 0 };
  }

  onEvent(): () => void {
    return () => undefined;
  }

  async stop(): Promise<void> {
    await this.endAs({ reason: "stopped" });
  }

  /** Resolves when nothing is left. */
  async endAs(end: InstanceEnd): Promise<void> {
    this.#end ??= this.#close().finally(() => {
      this.#ending.resolve(end);
    });
    await this.#end;
  }

  async #close(): Promise<void> {
    for (const stream of this.#telemetry) stream.end();
    await this.#files.close();
    this.#agent.destroy();
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
    await rm(this.#options.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #operations() {
    const router = new HttpRouter({
      stripPrefix: "/browsers/{id}",
      context: () => undefined,
      idempotency: new IdempotencyMemory<undefined>(),
    });
    router.mountAll(browserFs, this.#files.handlers);
    // The service opens the `start_url` of a session in this way.
    router.mount(contract.actOnPage, ({ body }) => {
      if (body.type !== "navigate") throw needsBrowser(contract.actOnPage);
      return { ...shownPage, url: body.url ?? "", new_tabs: [], downloads: [], failed_requests: [] };
    });
    for (const [name, endpoint] of Object.entries<Endpoint>(contract))
      if (endpoint.plane === "instance" && !(name in browserFs) && endpoint !== contract.actOnPage)
        router.mount(endpoint, () => {
          throw needsBrowser(endpoint);
        });
    return router.handle;
  }

  #control() {
    const router = new HttpRouter({ context: () => undefined });
    const archive = () => ({ stream: this.#profile() });
    const handlers: Partial<Record<keyof typeof instanceControl, () => unknown>> = {
      assign: () => undefined,
      changeViewport: () => ({ replays: [] }),
      setHandoff: () => undefined,
      reloadPolicies: () => undefined,
      followTelemetry: () => ({ stream: this.#followTelemetry() }),
      selectTelemetry: () => undefined,
      saveProfile: archive,
      saveForFork: archive,
      saveProfileAtEnd: archive,
    };
    for (const [name, endpoint] of Object.entries<Endpoint>(instanceControl)) {
      const handler = handlers[name as keyof typeof instanceControl] as Handler<Endpoint> | undefined;
      router.mount(
        endpoint,
        handler ??
          (() => {
            throw needsBrowser(endpoint);
          }),
      );
    }
    return router.handle;
  }

  #profile(): Readable {
    const { profile } = this.#options;
    return profile === undefined
      ? packProfile(undefined, { ...emptyProfile, cookies: [], origins: [] })
      : Readable.from([profile]);
  }

  #followTelemetry(): Readable {
    const stream = new PassThrough();
    this.#telemetry.add(stream);
    stream.once("close", () => this.#telemetry.delete(stream));
    return stream;
  }

  #lost(cause?: unknown): PlacementError {
    return new PlacementError("instance_lost", `Session ${this.sessionId} has ended.`, { cause });
  }
}

function needsBrowser({ operationId }: Endpoint): ServiceError {
  return new ServiceError(501, "not_implemented", `The fake of @shoal/testing has no browser for ${operationId}.`, {
    hint,
  });
}
