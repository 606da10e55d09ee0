import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { packageFile } from "../../config/package-file.ts";

/** Copied by build.mjs. */
const folder = packageFile("dist/pages/console");

export type Coding = "br" | "gzip";

export interface ConsoleFile {
  readonly type: string;
  readonly content: Buffer;
  readonly compressed: Partial<Readonly<Record<Coding, Buffer>>>;
}

export interface ConsoleFiles {
  readonly index: string;
  /** The page of a recording, which opens without signing in. */
  readonly replay: string;
  /** By path below `/console/`, without the pages. */
  readonly files: ReadonlyMap<string, ConsoleFile>;
}

const types: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};
const codings = { ".br": "br", ".gz": "gzip" } as const;

const codingOf = (path: string): Coding | undefined => codings[extname(path) as keyof typeof codings];

let reading: Promise<ConsoleFiles> | undefined;

/** Reads the built pages once, about 6 MB, so that a request never names a path of the disk. */
export function readConsoleFiles(): Promise<ConsoleFiles> {
  return (reading ??= readFolder().catch((error: unknown) => {
    reading = undefined;
    throw error;
  }));
}

async function readFolder(): Promise<ConsoleFiles> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const contents = new Map<string, Buffer>();
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    contents.set(relative(folder, path).split(sep).join("/"), await readFile(path));
  }
  const files = new Map<string, ConsoleFile>();
  for (const [path, content] of contents) {
    const type = types[extname(path)];
    if (type === undefined || codingOf(path) !== undefined) continue;
    const br = contents.get(`${path}.br`);
    const gzip = contents.get(`${path}.gz`);
    files.set(path, { type, content, compressed: { ...(br && { br }), ...(gzip && { gzip }) } });
  }
  const pageOf = (name: string) => contents.get(name)?.toString("utf8") ?? "";
  return { index: pageOf("index.html"), replay: pageOf("replay.html"), files };
}
