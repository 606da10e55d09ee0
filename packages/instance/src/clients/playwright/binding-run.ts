import { randomBytes } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { type AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { findProgram } from "../../system/find-program.ts";
import type { CdpGateway } from "../cdp/gateway.ts";
import { BindingProcess, type BindingProcessOptions, type BoundEndpoint } from "./binding-process.ts";
import { Videos } from "./videos.ts";

export interface BindingRunOptions extends Omit<BindingProcessOptions, "onExit"> {
  /** Folder that API paths start from. */
  readonly root: string;
  readonly cdp: Pick<CdpGateway, "upgrade">;
  /** Port of the egress forwarder. */
  readonly exitPort: number;
  /** Folder of videos that are being encoded. */
  readonly videoFolder: string;
}

/** A process of Playwright's protocol from its first client to its last one, with its files and its way to the browser. */
export class BindingRun {
  readonly #options: BindingRunOptions;
  readonly #clients = new Set<Socket>();
  readonly #door: Server;
  readonly #doorPath = `/${randomBytes(16).toString("hex")}`;
  readonly #videoPath = `${this.#doorPath}/video`;
  readonly #started: Promise<BindingProcess>;
  #videos: Videos | undefined;
  #lastId = 0;
  #isOver = false;

  constructor(options: BindingRunOptions) {
    this.#options = options;
    // A video is one request from its first frame to its last one.
    this.#door = createServer({ requestTimeout: 0 }, (request, response) => {
      const isVideo = request.method === "POST" && request.url?.split("?", 1)[0] === this.#videoPath;
      if (isVideo && this.#videos !== undefined) void this.#videos.answer(request, response);
      else response.writeHead(404).end();
    });
    this.#door.on("upgrade", (request, socket, head) => {
      // The process is a CDP client of the session, with the same limits as others.
      if (request.url === this.#doorPath && socket instanceof Socket) options.cdp.upgrade(request, socket, head);
      else socket.destroy();
    });
    this.#started = this.#start();
    this.#started.catch(() => {
      this.#end();
    });
  }

  /** Another client needs another run. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Opens a server of the protocol for one client. */
  async open(client: Socket): Promise<BoundEndpoint> {
    this.#lastId += 1;
    const id = this.#lastId;
    const folder = join(this.#options.folder, String(id));
    this.#clients.add(client);
    client.once("close", () => void this.#leave(id, client, folder));
    const binding = await this.#started;
    await mkdir(folder, { recursive: true });
    const { exitPort, root } = this.#options;
    const { port } = this.#door.address() as AddressInfo;
    const host = `127.0.0.1:${String(port)}`;
    const videos = this.#videos && { videos: `http://${host}${this.#videoPath}` };
    return binding.open({ id, cdp: `ws://${host}${this.#doorPath}`, root, folder, exitPort, ...videos });
  }

  async #start(): Promise<BindingProcess> {
    const { folder, videoFolder } = this.#options;
    await mkdir(folder, { recursive: true });
    const ffmpeg = await findProgram("ffmpeg");
    if (ffmpeg !== undefined) this.#videos = new Videos({ program: ffmpeg, folder: videoFolder });
    const listening = Promise.withResolvers<void>();
    this.#door.once("error", listening.reject).listen(0, "127.0.0.1", listening.resolve);
    await listening.promise;
    return new BindingProcess({
      ...this.#options,
      onExit: () => {
        this.#end();
      },
    });
  }

  async #leave(id: number, client: Socket, folder: string): Promise<void> {
    this.#clients.delete(client);
    const isLast = this.#clients.size === 0;
    if (isLast) this.#isOver = true;
    const binding = await this.#started.catch(() => undefined);
    if (isLast) binding?.kill();
    else {
      binding?.close(id);
      await remove(folder);
    }
  }

  #end(): void {
    this.#isOver = true;
    this.#door.close();
    void remove(this.#options.folder);
    void this.#videos?.remove();
  }
}

async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
}
