import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";

/** A file of the site. Texts are on the disk with Brotli only. */
export interface SiteFile {
  readonly type: string;
  readonly etag: string;
  /** `undefined` for pictures. */
  readonly brotli: Buffer | undefined;
  plain(): Promise<Buffer>;
}

/** By path below `/docs/`. */
export type SiteFiles = ReadonlyMap<string, SiteFile>;

const types: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".gif": "image/gif",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".md": "text/markdown; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".webp": "image/webp",
};

/** Reads all files, about 1.5 MB, so that a request never names a path of the disk. @returns `undefined` if the site is not built */
export async function readSite(folder: string): Promise<SiteFiles | undefined> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = new Map<string, SiteFile>();
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const name = relative(folder, path).split(sep).join("/");
    files.set(name.replace(/\.br$/, ""), fileOf(name, await readFile(path)));
  }
  return files.has("404.html") ? files : undefined;
}

function fileOf(name: string, content: Buffer): SiteFile {
  const isCompressed = name.endsWith(".br");
  let plain: Promise<Buffer> | undefined;
  return {
    type: types[extname(name.replace(/\.br$/, ""))] ?? "text/plain; charset=utf-8",
    etag: `W/"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`,
    brotli: isCompressed ? content : undefined,
    plain: () => (plain ??= isCompressed ? promisify(brotliDecompress)(content) : Promise.resolve(content)),
  };
}
