import { messageOf } from "@shoal/primitives";
import { unpackArchive } from "@shoal/primitives/archive";
import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createSocketServer, type Socket } from "node:net";
import { dirname } from "node:path";
import type { Duplex, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { openRemoteDoor } from "../doors/open-remote-door.ts";
import type { HostedExit, HostedProgramConfig, StartHosted } from "../protocol/hosted-program.ts";
import { log } from "../system/log.ts";

/** The memory of the box is the limit. */
const unlimited = { maxBytes: Number.MAX_SAFE_INTEGER, maxFiles: 1_000_000 };

/** Runs a program of an app for a service on another machine. @see HostedProgramConfig */
export function hostProgram(document: string): void {
  // The placement wrote this configuration, so it is trusted.
  const config = JSON.parse(document) as HostedProgramConfig;
  const host = new ProgramHost(config.channel_path);
  const end = (): void => process.exit(0);
  process.on("SIGTERM", end);
  process.stderr.on("error", () => undefined);
  const fail = (error: unknown): void => {
    log("error", "cannot host a program", { error: messageOf(error) });
    process.exit(1);
  };
  openRemoteDoor(config, config.remote, {
    onConnection: (socket) => host.server.emit("connection", socket),
    onError: fail,
    onAbandoned: end,
  }).catch(fail);
}

class ProgramHost {
  /** The service is its only client, and uploads are long. */
  readonly server: Server = createServer({ requestTimeout: 0, keepAliveTimeout: 0, noDelay: true });
  readonly #channelPath: string;
  readonly #channel = Promise.withResolvers<Socket | undefined>();
  readonly #exit = Promise.withResolvers<HostedExit>();
  #child: ChildProcess | undefined;

  constructor(channelPath: string) {
    this.#channelPath = channelPath;
    this.server.on("request", (request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        if (response.headersSent) response.destroy();
        else response.writeHead(500).end(messageOf(error));
      });
    });
    this.server.on("upgrade", (_request, socket: Duplex, head: Buffer) => void this.#openChannel(socket, head));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://host");
    switch (`${request.method ?? ""} ${pathname}`) {
      case "PUT /files":
        await copy(request, searchParams.get("to") ?? "", searchParams.get("as") ?? "");
        response.writeHead(204).end();
        return;
      case "POST /start":
        await this.#start(JSON.parse(await text(request)) as StartHosted);
        response.writeHead(204).end();
        return;
      case "GET /stdout":
        this.#print(this.#child?.stdout, response);
        return;
      case "GET /stderr":
        this.#print(this.#child?.stderr, response);
        return;
      case "GET /exit":
        response.end(JSON.stringify(await this.#exit.promise));
        return;
      default:
        response.writeHead(404).end();
    }
  }

  async #start({ args, env, folder }: StartHosted): Promise<void> {
    await this.#listen();
    const { SHOAL_ADDRESS: _address, SHOAL_PROGRAM: _program, ...own } = process.env;
    // Its own process group, whose processes end with it.
    const child = spawn(process.execPath, args, {
      cwd: folder,
      env: { ...own, ...env },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    await new Promise((resolve, reject) => child.once("spawn", resolve).once("error", reject));
    child.once("exit", (code, signal) => {
      endGroup(child);
      this.#channel.resolve(undefined);
      this.#exit.resolve({ code, signal });
    });
  }

  /** The program connects before it runs code of an app. */
  async #listen(): Promise<void> {
    const server = createSocketServer({ allowHalfOpen: true });
    server.on("connection", (socket) => {
      if (!server.listening) {
        socket.destroy();
        return;
      }
      server.close();
      socket.on("error", () => undefined);
      this.#channel.resolve(socket);
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(this.#channelPath, resolve);
    });
  }

  #print(output: Readable | null | undefined, response: ServerResponse): void {
    response.flushHeaders();
    if (output === null || output === undefined) response.end();
    else output.on("error", () => response.end()).pipe(response);
  }

  async #openChannel(outer: Duplex, head: Buffer): Promise<void> {
    outer.on("error", () => undefined);
    outer.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: shoal-channel\r\n\r\n");
    outer.unshift(head);
    const inner = await this.#channel.promise;
    if (inner === undefined) {
      outer.end();
      return;
    }
    outer.on("close", () => inner.destroy());
    inner.on("close", () => outer.end());
    outer.pipe(inner);
    inner.pipe(outer);
  }
}

async function copy(content: Readable, to: string, as: string): Promise<void> {
  if (as === "file") {
    await mkdir(dirname(to), { recursive: true });
    await pipeline(content, createWriteStream(to));
  } else {
    await mkdir(to, { recursive: true });
    await unpackArchive(content, to, { ...unlimited, isCompressed: as === "archive" });
  }
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It was its last process.
  }
}
