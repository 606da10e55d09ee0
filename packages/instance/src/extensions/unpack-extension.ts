import { ServiceError } from "@shoal/router";
import { lstat, mkdir, readdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { invalidInput, orServiceError } from "../fs/errors.ts";
import { defaultLimits, type FileSystemLimits } from "../fs/limits.ts";
import { locate, type SessionRoot } from "../fs/paths.ts";
import { removeTree } from "../fs/remove-tree.ts";
import { temporaryPath } from "../fs/temporary.ts";
import { unpackArchive } from "../fs/zip-upload.ts";
import type { TakenExtension } from "./take-extensions.ts";

/** Bounds of one extension. */
const limits: FileSystemLimits = { ...defaultLimits, archiveBytes: 50 * 2 ** 20, unpackedBytes: 512 * 2 ** 20, archiveEntries: 20_000 };
const maxManifestBytes = 2 ** 20;

/** Where a session's extensions lie, below its home directory. */
const extensionsFolder = "extensions";

/** An extension that lies in a folder of its own. */
export interface UnpackedExtension {
  readonly label: string;
  readonly name: string;
  /** Folder of its manifest, a path of the system that this program runs on. */
  readonly folder: string;
}

/**
 * Unpacks an extension to `extensions/NAME` in the home directory, in place of what was there.
 *
 * @throws {ServiceError} 400 `unsafe_archive` or `bad_request` for what is no archive of an extension, 413 above a limit; nothing has changed then.
 */
export async function unpackExtension(root: SessionRoot, { label, name, archive }: TakenExtension, signal: AbortSignal): Promise<UnpackedExtension> {
  const home = `${root.home}/${extensionsFolder}`;
  const { existing, missing } = await locate(root, home, { follow: true, action: "unpack into" });
  const parent = join(existing, ...missing);
  return orServiceError("unpack into", home, async () => {
    await mkdir(parent, { recursive: true });
    const fresh = temporaryPath(parent);
    try {
      await unpackArchive(root, { archive, path: `${home}/${fresh.slice(parent.length + 1)}` }, { limits, signal }).catch((error: unknown) => {
        throw named(error, label);
      });
      const inner = await manifestFolder(fresh, label);
      const place = join(parent, name);
      await removeTree(place, 0);
      await rename(fresh, place);
      return { label, name, folder: join(place, ...inner) };
    } finally {
      await removeTree(fresh, 0);
    }
  });
}

/** What is wrong with an archive, with the one of several that it is. */
function named(error: unknown, label: string): unknown {
  if (!ServiceError.isInstance(error)) return error;
  const message = error.message.startsWith("body.zip_file: ")
    ? `${label}[zip_file]: ${error.message.slice(15)}`
    : `${label}[zip_file]: ${error.message}`;
  return new ServiceError(error.status, error.code, message, { cause: error });
}

/** At the top, or in the only folder. */
async function manifestFolder(folder: string, label: string): Promise<readonly string[]> {
  const field = `${label}[zip_file]`;
  const names = (await readdir(folder)).filter((name) => name !== "__MACOSX" && name !== ".DS_Store");
  const inner = names.includes("manifest.json") ? [] : names.length === 1 ? names : undefined;
  const manifest = inner === undefined ? undefined : await readManifest(join(folder, ...inner, "manifest.json"));
  if (inner === undefined || manifest === undefined)
    throw invalidInput(field, "holds no manifest.json at its top or in its only folder. Zip the folder that manifest.json lies in");
  checkManifest(manifest, field);
  return inner;
}

async function readManifest(path: string): Promise<string | undefined> {
  const stats = await lstat(path).catch(() => undefined);
  return stats?.isFile() === true && stats.size <= maxManifestBytes ? (await readFile(path, "utf8")).replace(/^\uFEFF/, "") : undefined;
}

function checkManifest(text: string, field: string): void {
  let manifest: unknown;
  try {
    manifest = JSON.parse(text);
  } catch (error) {
    throw invalidInput(field, `its manifest.json is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof manifest !== "object" || manifest === null || Array.isArray(manifest))
    throw invalidInput(field, "its manifest.json must be a JSON object");
}
