import { contract, type Endpoint } from "@shoal/contract";
import { ServiceError, type Handler, type Handlers } from "@shoal/router";
import { HttpRouter } from "@shoal/router/http";
import type { Browser, FileInfo, FileSystemEvent, Profile } from "@shoal/schemas";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";

const created_at = "2026-01-31T12:00:00.000Z";

export interface ToyService extends AsyncDisposable {
  readonly baseUrl: string;
  /** `METHOD /path` of every request. */
  readonly requests: readonly string[];
  readonly files: Map<string, Buffer>;
  /** Closes every connection, like a network failure. */
  cut(): void;
}

async function contentOf(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export async function startToyService(apiKey: string): Promise<ToyService> {
  const files = new ToyFiles();
  const requests: string[] = [];
  const router = new HttpRouter({
    context: (request: IncomingMessage, endpoint) => {
      requests.push(`${request.method ?? ""} ${request.url ?? ""}`);
      if (endpoint.auth !== "none" && request.headers.authorization !== `Bearer ${apiKey}`)
        throw new ServiceError(401, "unauthorized", "The API key is not known.");
      return undefined;
    },
  });
  const handlers = {
    ...serviceHandlers,
    ...apiKeyHandlers,
    ...profileHandlers(),
    ...browserHandlers(),
    ...fileHandlers(files),
    ...directoryHandlers(files),
    ...watchHandlers(files),
  };
  // `ToyHandlers` matches each name with its handler.
  for (const [name, handler] of Object.entries(handlers))
    router.mount<Endpoint>(contract[name as keyof typeof handlers], handler as Handler<Endpoint>);
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    router.handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    requests,
    files: files.contents,
    cut() {
      server.closeAllConnections();
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type ToyHandlers = Partial<Handlers<typeof contract>>;

interface ToyWatch {
  readonly events: FileSystemEvent[];
  stopped: boolean;
  wake: () => void;
}

class ToyFiles {
  readonly contents = new Map<string, Buffer>();
  readonly watches = new Map<string, ToyWatch>();

  put(path: string, bytes: Buffer): void {
    this.#changed(this.contents.has(path) ? "WRITE" : "CREATE", path);
    this.contents.set(path, bytes);
  }

  remove(path: string): void {
    found(this.contents, path);
    this.contents.delete(path);
    this.#changed("DELETE", path);
  }

  infoOf(path: string): FileInfo {
    return {
      name: path.split("/").at(-1) ?? "",
      path,
      size_bytes: found(this.contents, path).length,
      is_dir: false,
      mod_time: created_at,
      mode: "-rw-r--r--",
    };
  }

  #changed(type: FileSystemEvent["type"], path: string): void {
    for (const watch of this.watches.values()) {
      watch.events.push({ type, path });
      watch.wake();
    }
  }
}

function missing(what: string): ServiceError {
  return new ServiceError(404, "not_found", `${what} was not found.`);
}

function found<Value>(map: ReadonlyMap<string, Value>, key: string): Value {
  const value = map.get(key);
  if (value === undefined) throw missing(key);
  return value;
}

function pageOf<Item>(all: Item[], { limit, offset }: { limit: number; offset: number }) {
  const items = all.slice(offset, offset + limit);
  const next = offset + items.length;
  return { items, hasMore: next < all.length, nextOffset: next < all.length ? next : undefined };
}

const serviceHandlers = {
  getHealth: () => ({ status: "ok", version: "1.0.0" }),
  getReadiness: () => {
    throw new ServiceError(503, "shutting_down", "chromium: not found");
  },
  getOpenApi: () => ({ openapi: "3.1.0" }),
} satisfies ToyHandlers;

function apiKey(name: string) {
  return {
    id: "k1",
    name,
    created_at,
    created_by: { id: "k0", email: "admin@localhost", name: null },
    expires_at: null,
    deleted_at: null,
    project_id: null,
    project_name: null,
    masked_key: "sk_…9",
  };
}

const apiKeyHandlers = {
  createApiKey: ({ body }) => ({ ...apiKey(body.name), key: "sk_new" }),
  listApiKeys: ({ query }) => pageOf([apiKey("a"), apiKey("b")], query),
  getApiKey: ({ params, query }) => apiKey(`${params.id} ${query.include_deleted}`),
  updateApiKey: ({ body }) => apiKey(body.name),
  deleteApiKey: () => undefined,
  rotateApiKey: ({ body }) => ({ ...apiKey(`rotated ${body.expire_in_days ?? "as usual"}`), key: "sk_rotated" }),
} satisfies ToyHandlers;

function profileHandlers() {
  const profiles = new Map<string, Profile>();
  return {
    createProfile: ({ body }) => {
      const profile: Profile = { id: `p${profiles.size}`, name: body.name ?? null, created_at };
      profiles.set(profile.id, profile);
      return profile;
    },
    listProfiles: ({ query }) => pageOf([...profiles.values()], query),
    getProfile: ({ params }) => found(profiles, params.id_or_name),
    updateProfile: ({ params, body }) => Object.assign(found(profiles, params.id_or_name), body),
    deleteProfile: ({ params }) => {
      found(profiles, params.id_or_name);
      profiles.delete(params.id_or_name);
    },
  } satisfies ToyHandlers;
}

function browserHandlers() {
  const browsers = new Map<string, Browser>();
  return {
    createBrowser: ({ body }) => {
      const browser: Browser = {
        session_id: `b${browsers.size}`,
        created_at,
        cdp_ws_url: "ws://x",
        webdriver_ws_url: "ws://x",
        headless: body.headless ?? true,
        stealth: false,
        timeout_seconds: body.timeout_seconds ?? 60,
      };
      browsers.set(browser.session_id, browser);
      return browser;
    },
    listBrowsers: ({ query }) => pageOf([...browsers.values()], query),
    getBrowser: ({ params }) => found(browsers, params.id_or_name),
    updateBrowser: ({ params, body }) => ({
      ...found(browsers, params.id_or_name),
      ...(body.name != null && { name: body.name }),
    }),
    deleteBrowser: ({ params }) => {
      found(browsers, params.id_or_name);
      browsers.delete(params.id_or_name);
    },
  } satisfies ToyHandlers;
}

function fileHandlers(files: ToyFiles) {
  return {
    readFile: ({ query }) => {
      const bytes = found(files.contents, query.path);
      return { stream: Readable.from([bytes]), sizeBytes: bytes.length, fileName: query.path.split("/").at(-1) ?? "" };
    },
    writeFile: async ({ query, body }) => {
      files.put(query.path, await contentOf(body));
    },
    deleteFile: ({ body }) => {
      files.remove(body.path);
    },
    setFilePermissions: ({ body }) => {
      found(files.contents, body.path);
    },
    getFileInfo: ({ query }) => files.infoOf(query.path),
    movePath: ({ body }) => {
      const bytes = found(files.contents, body.src_path);
      files.remove(body.src_path);
      files.put(body.dest_path, bytes);
    },
    uploadFiles: async ({ body }) => {
      let path = "";
      for await (const part of body) {
        if (part.kind === "field") path = part.value;
        else files.put(path, await contentOf(part.stream));
      }
    },
  } satisfies ToyHandlers;
}

function directoryHandlers(files: ToyFiles) {
  return {
    listFiles: () => [...files.contents.keys()].map((path) => files.infoOf(path)),
    createDirectory: () => undefined,
    deleteDirectory: ({ body, query }) => {
      const inside = [...files.contents.keys()].filter((path) => path.startsWith(`${body.path}/`));
      if (inside.length === 0 && !query.missing_ok) throw missing(body.path);
      for (const path of inside) files.remove(path);
    },
    uploadZip: async ({ body }) => {
      let path = "";
      for await (const part of body) {
        if (part.kind === "field") path = part.value;
        else files.put(`${path}/unpacked`, await contentOf(part.stream));
      }
    },
    downloadDirZip: ({ query }) => ({
      stream: Readable.from([Buffer.from(`zip of ${query.path}`)]),
      fileName: "d.zip",
    }),
  } satisfies ToyHandlers;
}

function watchHandlers({ watches }: ToyFiles) {
  return {
    startWatch: () => {
      const watch_id = `w${watches.size}`;
      watches.set(watch_id, { events: [], stopped: false, wake: () => undefined });
      return { watch_id };
    },
    watchEvents: ({ params, lastEventId, signal }) =>
      eventsOf(found(watches, params.watch_id), Number(lastEventId ?? 0), signal),
    stopWatch: ({ params }) => {
      const watch = found(watches, params.watch_id);
      watch.stopped = true;
      watch.wake();
    },
  } satisfies ToyHandlers;
}

async function* eventsOf(watch: ToyWatch, after: number, signal: AbortSignal) {
  for (let at = after; ; at++) {
    while (at >= watch.events.length) {
      if (watch.stopped || signal.aborted) return;
      await new Promise<void>((resolve) => {
        watch.wake = resolve;
        signal.addEventListener("abort", () => {
          resolve();
        });
      });
    }
    const data = watch.events[at];
    if (data !== undefined) yield { id: String(at + 1), data };
  }
}
