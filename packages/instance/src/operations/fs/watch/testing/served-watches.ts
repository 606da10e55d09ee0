import { startWatch, stopWatch, watchEvents } from "@shoal/contract";
import { HttpRouter } from "@shoal/router/http";
import type { FileSystemEvent } from "@shoal/schemas";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { createServer, get, type IncomingMessage, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultWatchLimits, watchHandlers, type WatchHandlers, type WatchLimits } from "../watches.ts";

export interface Frame {
  readonly id: number;
  /** Absent in the frame of a gap. */
  readonly event?: FileSystemEvent;
  readonly missed?: number;
}

export interface ServedWatches extends AsyncDisposable {
  /** Directory of the host that is `/`. */
  readonly root: string;
  readonly handlers: WatchHandlers;
  readonly faults: unknown[];
  start(path: string, recursive?: boolean): Promise<string>;
  stop(id: string): Promise<Response>;
  post(body: unknown): Promise<Response>;
  read(id: string, options?: { readonly after?: number; readonly gaps?: boolean }): Promise<Reader>;
  /** Reads a failed watch, and reconnects after each cut until the server reports the reason. */
  readOut(id: string): Promise<{ readonly frames: Frame[]; readonly refusal: string }>;
  sh(script: string): Promise<void>;
  node(program: string): Promise<void>;
}

export interface Reader extends AsyncIterable<Frame> {
  readonly response: IncomingMessage;
  until(fits: (frame: Frame) => boolean): Promise<Frame[]>;
  toEnd(): Promise<Frame[]>;
  close(): void;
}

export async function serveWatches(limits: Partial<WatchLimits> = {}, directory?: string): Promise<ServedWatches> {
  const root = await realpath(await mkdtemp(join(directory ?? tmpdir(), "shoal-watch-")));
  const handlers = watchHandlers({ directory: root, home: "/home/shoal" }, { ...defaultWatchLimits, ...limits });
  const faults: unknown[] = [];
  const router = new HttpRouter({
    stripPrefix: "/browsers/{id}",
    context: () => undefined,
    onError: (error) => faults.push(error),
  });
  router.mount(startWatch, handlers.startWatch);
  router.mount(watchEvents, handlers.watchEvents);
  router.mount(stopWatch, handlers.stopWatch);
  const server = createServer((request, response) => {
    router.handle(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return new WatchesOnSocket(server, { root, handlers, faults });
}

class WatchesOnSocket implements ServedWatches {
  readonly root: string;
  readonly handlers: WatchHandlers;
  readonly faults: unknown[];
  readonly #server: Server;
  readonly #base: string;

  constructor(server: Server, { root, handlers, faults }: Pick<ServedWatches, "root" | "handlers" | "faults">) {
    this.root = root;
    this.handlers = handlers;
    this.faults = faults;
    this.#server = server;
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    this.#base = `http://127.0.0.1:${address.port}/fs/watch`;
  }

  async start(path: string, recursive = true): Promise<string> {
    const response = await this.post({ path, recursive });
    if (response.status !== 201) throw new Error(await response.text());
    return ((await response.json()) as { watch_id: string }).watch_id;
  }

  stop(id: string): Promise<Response> {
    return fetch(`${this.#base}/${id}`, { method: "DELETE" });
  }

  post(body: unknown): Promise<Response> {
    return fetch(this.#base, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  }

  async read(id: string, options: { readonly after?: number; readonly gaps?: boolean } = {}): Promise<Reader> {
    const headers = {
      ...(options.after !== undefined && { "last-event-id": String(options.after) }),
      ...(options.gaps && { "x-shoal-stream": "gaps" }),
    };
    const request = get(`${this.#base}/${id}/events`, { headers, agent: false });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    if (response.statusCode === 200) return reader(response);
    let text = "";
    for await (const chunk of response.setEncoding("utf8")) text += String(chunk);
    throw new Error(`${response.statusCode ?? 0} ${text}`);
  }

  async readOut(id: string): Promise<{ frames: Frame[]; refusal: string }> {
    const frames: Frame[] = [];
    for (;;) {
      let again: Reader;
      try {
        again = await this.read(id, { after: frames.at(-1)?.id ?? 0 });
      } catch (error) {
        return { frames, refusal: String(error) };
      }
      try {
        for await (const frame of again) frames.push(frame);
        throw new Error("the stream of a watch that failed came to an end in order");
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "ECONNRESET")) throw error;
      }
    }
  }

  sh(script: string): Promise<void> {
    return this.#run("/bin/sh", ["-ec", script]);
  }

  node(program: string): Promise<void> {
    return this.#run(process.execPath, ["--input-type=module", "-e", program]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.handlers.close();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
    await rm(this.root, { recursive: true, force: true });
  }

  async #run(command: string, args: readonly string[]): Promise<void> {
    const child = spawn(command, args, { cwd: this.root, stdio: ["ignore", "ignore", "pipe"] });
    let problems = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (problems += text));
    const [code] = (await once(child, "close")) as [number | null];
    if (code !== 0) throw new Error(`the writer failed: ${problems}`);
  }
}

function reader(response: IncomingMessage): Reader {
  const frames = parse(response);
  const take = async (fits: (frame: Frame) => boolean): Promise<Frame[]> => {
    const taken: Frame[] = [];
    for (;;) {
      const { value, done } = await frames.next();
      if (done === true) return taken;
      taken.push(value);
      if (fits(value)) return taken;
    }
  };
  return {
    response,
    until: async (fits) => {
      const taken = await take(fits);
      const last = taken.at(-1);
      if (!last || !fits(last)) throw new Error(`the stream ended before: ${JSON.stringify(taken.slice(-5))}`);
      return taken;
    },
    toEnd: () => take(() => false),
    close: () => {
      response.destroy();
    },
    [Symbol.asyncIterator]: () => frames,
  };
}

async function* parse(response: IncomingMessage): AsyncGenerator<Frame, undefined> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) {
    text += String(chunk);
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
      const id = field("id");
      const data = field("data");
      if (id === undefined || data === undefined) continue;
      const value: unknown = JSON.parse(data);
      yield field("event") === "gap"
        ? { id: Number(id), missed: (value as { missed: number }).missed }
        : { id: Number(id), event: value as FileSystemEvent };
    }
  }
  return undefined;
}

export async function treeOf(root: string, path: string): Promise<Map<string, boolean>> {
  const found = new Map<string, boolean>();
  for (const entry of await readdir(join(root, path), { recursive: true, withFileTypes: true })) {
    found.set(join(entry.parentPath, entry.name).slice(root.length), entry.isDirectory());
  }
  return found;
}

/** Applies events to a tree. For a client that knows `moves`, RENAME moves the content; otherwise CREATE follows. */
export function replay(
  before: ReadonlyMap<string, boolean>,
  frames: readonly Frame[],
  knows: "moves" | "creations",
): Map<string, boolean> {
  const tree = new Map(before);
  const below = (path: string): [string, boolean][] =>
    [...tree].filter(([at]) => at === path || at.startsWith(`${path}/`));
  for (const { event } of frames) {
    if (!event) continue;
    const { type, path, is_dir, dest_path } = event;
    if (type === "CREATE") tree.set(path, is_dir ?? false);
    else if (type === "DELETE") for (const [at] of below(path)) tree.delete(at);
    else if (type === "RENAME") {
      const moved = below(path);
      for (const [at] of moved) tree.delete(at);
      if (knows === "creations" || dest_path === undefined) continue;
      for (const [at] of below(dest_path)) tree.delete(at);
      for (const [at, isDirectory] of moved) tree.set(dest_path + at.slice(path.length), isDirectory);
    }
  }
  return tree;
}

/** Returns events that do not fit the tree that the previous events have produced. */
export function misplaced(
  before: ReadonlyMap<string, boolean>,
  frames: readonly Frame[],
  watchedPath: string,
): string[] {
  const tree = new Map(before).set(watchedPath, true);
  const below = (path: string): [string, boolean][] =>
    [...tree].filter(([at]) => at === path || at.startsWith(`${path}/`));
  return frames.flatMap(({ event, id }) => {
    if (!event) return [];
    const { type, path, is_dir, dest_path } = event;
    const fits = type === "CREATE" ? tree.get(path.slice(0, path.lastIndexOf("/"))) === true : tree.has(path);
    const moved = type === "RENAME" || type === "DELETE" ? below(path) : [];
    for (const [at] of moved) tree.delete(at);
    if (type === "CREATE") tree.set(path, is_dir ?? false);
    if (dest_path !== undefined) {
      for (const [at] of below(dest_path)) tree.delete(at);
      for (const [at, isDirectory] of moved) tree.set(dest_path + at.slice(path.length), isDirectory);
    }
    return fits ? [] : [`${id} ${type} ${path}`];
  });
}
