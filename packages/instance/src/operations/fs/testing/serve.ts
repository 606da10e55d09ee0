import * as contract from "@shoal/contract";
import { HttpRouter } from "@shoal/router/http";
import { mkdir, mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileSystemHandlers } from "../handlers.ts";
import type { FileSystemLimits } from "../limits.ts";

/** The API paths of a test's files: paths of the host, as in a box, or paths below a directory. */
export const rootKinds = ["/", "a directory"] as const;
export type RootKind = (typeof rootKinds)[number];

export interface Answered {
  readonly status: number;
  /** `undefined` for a success. */
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly text: string;
}

export interface ServedFileSystem extends AsyncDisposable {
  readonly url: string;
  /** Directory of the host for the test's files; `/` of the API unless the kind is `/`. */
  readonly directory: string;
  readonly spool: string;
  /** Directory of the host next to the root, for links that lead out. */
  readonly outside: string;
  at(name: string): string;
  host(name: string): string;
  call(
    operation: string,
    input?: {
      readonly query?: Record<string, string>;
      readonly json?: unknown;
      readonly body?: BodyInit;
      readonly method?: string;
    },
  ): Promise<Answered>;
  /** Failures that were reported as a 500, or as an aborted stream. */
  readonly faults: readonly unknown[];
}

export async function serveFileSystem(
  kind: RootKind,
  limits: Partial<FileSystemLimits> = {},
): Promise<ServedFileSystem> {
  const base = await realpath(await mkdtemp(join(tmpdir(), "shoal-fs-")));
  const directory = join(base, "root");
  const spool = join(base, "spool");
  const outside = join(base, "outside");
  for (const path of [directory, spool, outside]) await mkdir(path);
  const faults: unknown[] = [];
  const router = new HttpRouter({
    stripPrefix: "/browsers/{id}",
    context: () => undefined,
    onError: (error) => faults.push(error),
  });
  const home = kind === "/" ? join(directory, "home", "shoal") : "/home/shoal";
  const handlers = fileSystemHandlers(
    { directory: kind === "/" ? "/" : directory, home, spoolDirectory: spool },
    limits,
  );
  router.mount(contract.readFile, handlers.readFile);
  router.mount(contract.writeFile, handlers.writeFile);
  router.mount(contract.listFiles, handlers.listFiles);
  router.mount(contract.createDirectory, handlers.createDirectory);
  router.mount(contract.deleteFile, handlers.deleteFile);
  router.mount(contract.deleteDirectory, handlers.deleteDirectory);
  router.mount(contract.setFilePermissions, handlers.setFilePermissions);
  router.mount(contract.getFileInfo, handlers.getFileInfo);
  router.mount(contract.movePath, handlers.movePath);
  router.mount(contract.uploadFiles, handlers.uploadFiles);
  router.mount(contract.uploadZip, handlers.uploadZip);
  router.mount(contract.downloadDirZip, handlers.downloadDirZip);
  const server = createServer((request, response) => {
    router.handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    directory,
    spool,
    outside,
    faults,
    at: (name) => (kind === "/" ? join(directory, name) : join("/", name)),
    host: (name) => join(directory, name),
    async call(operation, { body, json, method, query = {} } = {}) {
      const response = await fetch(`${url}/fs/${operation}?${new URLSearchParams(query).toString()}`, {
        method: method ?? (json !== undefined ? "PUT" : body !== undefined ? "POST" : "GET"),
        ...(json !== undefined && { body: JSON.stringify(json), headers: { "content-type": "application/json" } }),
        ...(body !== undefined && { body, duplex: "half" }),
      });
      const text = await response.text();
      const error = response.status >= 400 ? (JSON.parse(text) as { code: string; message: string }) : undefined;
      return { status: response.status, code: error?.code, message: error?.message, text };
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(base, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

export async function namesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  // readdir's own recursion would follow links.
  const inner = await Promise.all(
    entries.map(async (entry) => [
      entry.name,
      ...(entry.isDirectory()
        ? (await namesIn(join(directory, entry.name))).map((name) => `${entry.name}/${name}`)
        : []),
    ]),
  );
  return inner.flat().sort();
}

/** Runs a test with the rights of a plain user, then as root again. */
export async function asPlainUser(work: () => Promise<void>): Promise<void> {
  if (process.geteuid?.() !== 0) {
    await work();
    return;
  }
  process.seteuid?.(65_534);
  try {
    await work();
  } finally {
    process.seteuid?.(0);
  }
}
