import { randomBytes } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { type AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import type { CdpGateway } from "../cdp/gateway.ts";
import { BindingProcess, type BindingProcessOptions, type BoundEndpoint } from "./binding-process.ts";

export interface BindingRunOptions extends Omit<BindingProcessOptions, "onExit"> {
  /** Folder that API paths start from. */
  readonly root: string;
  readonly cdp: Pick<CdpGateway, "upgrade">;
  /** Port of the egress forwarder. */
  readonly exitPort: number;
}

/** A process of Playwright's protocol from its first client to its last one, with its files and its way to the browser. */
export class BindingRun {
  readonly #options: BindingRunOptions;
  readonly #clients = new Set<Socket>();
  readonly #door: Server;
  readonly #doorPath = `/${randomBytes(16).toString("hex")}`;
  readonly #started: Promise<BindingProcess>;
  #lastId = 0;
  #isOver = false;

  constructor(options: BindingRunOptions) {
    this.#options = options;
    this.#door = createServer((_, response) => response.writeHead(404).end());
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
    return binding.open({ id, cdp: `ws://127.0.0.1:${String(port)}${this.#doorPath}`, root, folder, exitPort });
  }

  async #start(): Promise<BindingProcess> {
    const { folder } = this.#options;
    await mkdir(folder, { recursive: true });
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
  }
}

async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
}
