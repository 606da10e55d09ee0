import { certificate, certificateKey } from "./certificate.ts";
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  createServer as createLocalServer,
  type IncomingMessage,
  type Server as LocalServer,
  type ServerResponse,
} from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { dirname } from "node:path";
import type { Duplex } from "node:stream";
import { json } from "node:stream/consumers";

interface ContainerSpec {
  readonly Image: string;
  readonly Labels: Readonly<Record<string, string>>;
  readonly User: string;
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Env: readonly string[];
  readonly WorkingDir: string;
  readonly HostConfig: {
    readonly NetworkMode: string;
    readonly Binds: readonly string[];
    readonly Tmpfs: Readonly<Record<string, string>>;
  };
}

export interface FakeContainer {
  readonly name: string;
  readonly spec: ContainerSpec;
  state: "created" | "running" | "exited";
  memoryBytes?: number;
  child?: ChildProcess;
  attached?: Duplex;
  code: number;
}

/**
 * A container engine: Docker's HTTP API as far as the service uses it, with client certificates or on a socket.
 * Containers run in bubblewrap, without a network; the image is this machine's `/usr`, with the instance program. It
 * has no limits and no filter of system calls.
 */
export class FakeEngine {
  readonly containers = new Map<string, FakeContainer>();
  /** Whether it answers. */
  isReachable = true;
  /** An action on containers whose requests it leaves unanswered, as an engine that restarts. */
  unanswered: string | undefined;
  readonly #programPath: string;
  readonly #memoryBytes: number;
  readonly #server: Server | LocalServer;
  readonly #socketPath: string | undefined;

  constructor(programPath: string, memoryBytes: number, socketPath?: string) {
    this.#programPath = programPath;
    this.#memoryBytes = memoryBytes;
    this.#socketPath = socketPath;
    const tls = {
      cert: certificate,
      key: certificateKey,
      ca: certificate,
      requestCert: true,
      rejectUnauthorized: true,
    };
    const answer = (request: IncomingMessage, response: ServerResponse): void => void this.#answer(request, response);
    this.#server = socketPath === undefined ? createServer(tls, answer) : createLocalServer(answer);
    this.#server.on("upgrade", (request: IncomingMessage, socket: Duplex) => {
      this.#attach(request, socket);
    });
  }

  static async start(programPath: string, memoryBytes = 8 * 2 ** 30): Promise<FakeEngine> {
    const engine = new FakeEngine(programPath, memoryBytes);
    await once(engine.#server.listen(0, "127.0.0.1"), "listening");
    return engine;
  }

  /** An engine of this machine. As root, its containers have their own user, for the files of the service. */
  static async startLocal(programPath: string, socketPath: string): Promise<FakeEngine> {
    const engine = new FakeEngine(programPath, 8 * 2 ** 30, socketPath);
    await once(engine.#server.listen(socketPath), "listening");
    return engine;
  }

  get address(): string {
    if (this.#socketPath !== undefined) return `unix://${this.#socketPath}`;
    return `tcp://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  /** Breaks all connections, as a machine does that loses its network. */
  disconnect(): void {
    this.isReachable = false;
    this.#server.closeAllConnections();
    for (const { attached } of this.containers.values()) attached?.destroy();
  }

  async close(): Promise<void> {
    for (const { child } of this.containers.values()) child?.kill("SIGKILL");
    this.#server.close();
    this.#server.closeAllConnections();
    await Promise.resolve();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", "http://engine");
    const [, part = "", id = "", action = ""] = url.pathname.split("/");
    const send = (status: number, body?: unknown): void => {
      response
        .writeHead(status, { "content-type": "application/json" })
        .end(body === undefined ? "" : JSON.stringify(body));
    };
    if (!this.isReachable || action === this.unanswered) {
      response.destroy();
      return;
    }
    if (part === "version") send(200, { Version: "28.0.0", Components: [{ Name: "Engine" }] });
    else if (part === "info") send(200, { MemTotal: this.#memoryBytes });
    else if (part === "images") send(url.pathname.includes("missing") ? 404 : 200, { message: "No such image" });
    else if (part === "containers" && id === "create") this.#create(url, (await json(request)) as ContainerSpec, send);
    else if (part === "containers" && id === "json") send(200, this.#list());
    else await this.#act(id, request.method === "DELETE" ? "remove" : action, request, send);
  }

  #create(url: URL, spec: ContainerSpec, send: (status: number, body: unknown) => void): void {
    const id = randomBytes(8).toString("hex");
    const name = url.searchParams.get("name") ?? "";
    this.containers.set(id, { name, spec, state: "created", code: 0 });
    send(201, { Id: id });
  }

  #list(): readonly object[] {
    return [...this.containers].map(([Id, { spec, state }]) => ({ Id, State: state, Labels: spec.Labels }));
  }

  async #act(
    id: string,
    action: string,
    request: IncomingMessage,
    send: (status: number, body?: unknown) => void,
  ): Promise<void> {
    const container = this.containers.get(id);
    if (container === undefined) {
      send(404, { message: `No such container: ${id}` });
      return;
    }
    switch (action) {
      case "start":
        this.#run(container);
        send(204);
        return;
      case "json":
        send(200, { State: { Pid: container.child?.pid } });
        return;
      case "wait":
        if (container.state === "running" && container.child !== undefined) await once(container.child, "close");
        send(200, { StatusCode: container.code });
        return;
      case "update":
        container.memoryBytes = ((await json(request)) as { Memory: number }).Memory;
        send(200, {});
        return;
      case "kill":
        container.child?.kill("SIGKILL");
        send(204);
        return;
      case "remove":
        this.containers.delete(id);
        container.child?.kill("SIGKILL");
        send(204);
        return;
      default:
        send(404, { message: "page not found" });
    }
  }

  #attach(request: IncomingMessage, socket: Duplex): void {
    const id = (request.url ?? "").split("/")[2] ?? "";
    const container = this.containers.get(id);
    socket.on("error", () => undefined);
    if (container === undefined || !this.isReachable) {
      socket.destroy();
      return;
    }
    socket.write("HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n");
    container.attached = socket;
  }

  #run(container: FakeContainer): void {
    const { attached } = container;
    const { spec } = container;
    const [user = "", group = ""] = spec.User.split(":");
    const node = dirname(process.execPath);
    const binds = (...paths: string[]): string[] => paths.flatMap((path) => ["--ro-bind-try", path, path]);
    const links = ["bin", "lib", "lib64", "sbin"].flatMap((name) => ["--symlink", `usr/${name}`, `/${name}`]);
    const tmpfs = Object.keys(spec.HostConfig.Tmpfs).flatMap((folder) => ["--perms", "1777", "--tmpfs", folder]);
    // Bubblewrap would make them for its own user only.
    const folders = ["/opt", "/opt/shoal", "/run", "/home", "/var", "/var/lib"].flatMap((folder) => [
      ...["--perms", "0755", "--dir", folder],
    ]);
    const env = spec.Env.flatMap((entry) => {
      const [name = "", ...value] = entry.split("=");
      return ["--setenv", name, value.join("=")];
    });
    const isLocal = this.#socketPath !== undefined;
    if (spec.HostConfig.NetworkMode !== "none" || (spec.HostConfig.Binds.length > 0 && !isLocal))
      throw new Error("A container has no network, and on another machine no files of the service.");
    // Root mounts files that the user cannot see from outside, as an engine does.
    const asUser = isLocal ? ["setpriv", "--reuid", user, "--regid", group, "--clear-groups", "--"] : [];
    const mounts = spec.HostConfig.Binds.flatMap((bind) => {
      const [from = "", to = "", mode] = bind.split(":");
      return [mode === "rw" ? "--bind" : "--ro-bind", from, to];
    });
    const child = spawn(
      "bwrap",
      [
        ...(isLocal ? [] : ["--unshare-user", "--uid", user, "--gid", group]),
        ...["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--die-with-parent"],
        ...["--clearenv", ...binds("/usr", "/etc"), ...links],
        ...["--proc", "/proc", "--dev", "/dev", ...folders, ...["--ro-bind", node, "/opt/node"], ...tmpfs],
        ...["--ro-bind", dirname(this.#programPath), "/opt/shoal/instance", ...mounts, ...env],
        ...["--chdir", spec.WorkingDir],
        ...["--setenv", "PATH", "/opt/node:/usr/local/bin:/usr/bin:/bin", "--", ...asUser, ...spec.Cmd],
      ],
      { stdio: ["pipe", "pipe", "pipe"] },
    );
    container.child = child;
    container.state = "running";
    child.stdin.on("error", () => undefined);
    for (const [stream, output] of [
      [1, child.stdout],
      [2, child.stderr],
    ] as const)
      output.on("data", (chunk: Buffer) => {
        const header = Buffer.alloc(8);
        header.writeUInt8(stream, 0);
        header.writeUInt32BE(chunk.length, 4);
        if (attached?.write(Buffer.concat([header, chunk])) !== false) return;
        output.pause();
        attached.once("drain", () => output.resume());
      });
    // As with StdinOnce, the end of the attached connection is the end of the input.
    attached?.on("data", (chunk: Buffer) => child.stdin.write(chunk));
    attached?.on("close", () => child.stdin.end());
    child.once("close", (code, signal) => {
      container.state = "exited";
      container.code = code ?? (signal === "SIGKILL" ? 137 : 143);
      attached?.end();
    });
  }
}
