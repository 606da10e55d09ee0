import { contract, type Endpoint } from "@shoal/contract";
import { ServiceError, type Handler, type Handlers } from "@shoal/router";
import { createHttpRouter } from "@shoal/router/http";
import type { Browser, FileInfo, FileSystemEvent, Profile } from "@shoal/schemas";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";

const created_at = "2026-01-31T12:00:00.000Z";

export interface ToyService extends AsyncDisposable {
  readonly baseUrl: string;
  /** `METHOD /path` of every request. */
  readonly requests: readonly string[];
  /** Files by path. */
  readonly files: Map<string, Buffer>;
  /** Cuts every connection, as a network does. */
  cut(): void;
}

async function contentOf(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** The real router with handlers that keep everything in memory: what a client sends is checked as the service checks it. */
export async function startToyService(apiKey: string): Promise<ToyService> {
  const profiles = new Map<string, Profile>();
  const browsers = new Map<string, Browser>();
  const files = new Map<string, Buffer>();
  const watches = new Map<string, { events: FileSystemEvent[]; stopped: boolean; wake: () => void }>();
  const requests: string[] = [];
  const missing = (what: string) => new ServiceError(404, "not_found", `${what} was not found.`);
  const found = <Value>(map: Map<string, Value>, key: string): Value => {
    const value = map.get(key);
    if (value === undefined) throw missing(key);
    return value;
  };
  const infoOf = (path: string): FileInfo => ({
    name: path.split("/").at(-1) ?? "",
    path,
    size_bytes: found(files, path).length,
    is_dir: false,
    mod_time: created_at,
    mode: "-rw-r--r--",
  });
  const changed = (type: FileSystemEvent["type"], path: string) => {
    for (const watch of watches.values()) {
      watch.events.push({ type, path });
      watch.wake();
    }
  };
  const put = (path: string, bytes: Buffer) => {
    changed(files.has(path) ? "WRITE" : "CREATE", path);
    files.set(path, bytes);
  };
  const remove = (path: string) => {
    found(files, path);
    files.delete(path);
    changed("DELETE", path);
  };
  const key = (name: string) => ({
    id: "k1",
    name,
    created_at,
    created_by: { id: "k0", email: "admin@localhost", name: null },
    expires_at: null,
    deleted_at: null,
    project_id: null,
    project_name: null,
    masked_key: "sk_…9",
  });
  const pageOf = <Item>(all: Item[], { limit, offset }: { limit: number; offset: number }) => {
    const items = all.slice(offset, offset + limit);
    const next = offset + items.length;
    return { items, hasMore: next < all.length, nextOffset: next < all.length ? next : undefined };
  };

  const handlers = {
    getHealth: () => ({ status: "ok", version: "1.0.0" }),
    getReadiness: () => {
      throw new ServiceError(503, "shutting_down", "chromium: not found");
    },
    getOpenApi: () => ({ openapi: "3.1.0" }),
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
    createApiKey: ({ body }) => ({ ...key(body.name), key: "sk_new" }),
    listApiKeys: ({ query }) => pageOf([key("a"), key("b")], query),
    getApiKey: ({ params, query }) => key(`${params.id} ${query.include_deleted}`),
    updateApiKey: ({ body }) => key(body.name),
    deleteApiKey: () => undefined,
    rotateApiKey: ({ body }) => ({ ...key(`rotated ${body.expire_in_days ?? "as usual"}`), key: "sk_rotated" }),
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
    updateBrowser: ({ params, body }) => ({ ...found(browsers, params.id_or_name), ...(body.name != null && { name: body.name }) }),
    deleteBrowser: ({ params }) => {
      found(browsers, params.id_or_name);
      browsers.delete(params.id_or_name);
    },
    readFile: ({ query }) => {
      const bytes = found(files, query.path);
      return { stream: Readable.from([bytes]), sizeBytes: bytes.length, fileName: query.path.split("/").at(-1) ?? "" };
    },
    writeFile: async ({ query, body }) => {
      put(query.path, await contentOf(body));
    },
    listFiles: () => [...files.keys()].map(infoOf),
    createDirectory: () => undefined,
    deleteFile: ({ body }) => {
      remove(body.path);
    },
    deleteDirectory: ({ body, query }) => {
      const inside = [...files.keys()].filter((path) => path.startsWith(`${body.path}/`));
      if (inside.length === 0 && !query.missing_ok) throw missing(body.path);
      inside.forEach(remove);
    },
    setFilePermissions: ({ body }) => {
      found(files, body.path);
    },
    getFileInfo: ({ query }) => infoOf(query.path),
    movePath: ({ body }) => {
      const bytes = found(files, body.src_path);
      remove(body.src_path);
      put(body.dest_path, bytes);
    },
    uploadFiles: async ({ body }) => {
      let path = "";
      for await (const part of body) {
        if (part.kind === "field") path = part.value;
        else put(path, await contentOf(part.stream));
      }
    },
    uploadZip: async ({ body }) => {
      let path = "";
      for await (const part of body) {
        if (part.kind === "field") path = part.value;
        else put(`${path}/unpacked`, await contentOf(part.stream));
      }
    },
    downloadDirZip: ({ query }) => ({ stream: Readable.from([Buffer.from(`zip of ${query.path}`)]), fileName: "d.zip" }),
    startWatch: () => {
      const watch_id = `w${watches.size}`;
      watches.set(watch_id, { events: [], stopped: false, wake: () => undefined });
      return { watch_id };
    },
    watchEvents: ({ params, lastEventId, signal }) => {
      const watch = found(watches, params.watch_id);
      return (async function* () {
        for (let at = Number(lastEventId ?? 0); ; at++) {
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
      })();
    },
    stopWatch: ({ params }) => {
      const watch = found(watches, params.watch_id);
      watch.stopped = true;
      watch.wake();
    },
  } satisfies Partial<Handlers<typeof contract>>;

  const router = createHttpRouter({
    context: (request: IncomingMessage, endpoint) => {
      requests.push(`${request.method ?? ""} ${request.url ?? ""}`);
      if (endpoint.auth !== "none" && request.headers.authorization !== `Bearer ${apiKey}`)
        throw new ServiceError(401, "unauthorized", "The API key is not known.");
      return undefined;
    },
  });
  // `satisfies` above holds each name to its handler.
  for (const [name, handler] of Object.entries(handlers))
    router.mount<Endpoint>(contract[name as keyof typeof handlers], handler as Handler<Endpoint>);
  const server = createServer((request, response) => {
    router.handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    requests,
    files,
    cut() {
      server.closeAllConnections();
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
