import { messageOf } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import { lstat, mkdir, readdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { invalidInput, orServiceError } from "../fs/errors.ts";
import { defaultLimits, type FileSystemLimits } from "../fs/limits.ts";
import { locate, type SessionRoot } from "../fs/paths.ts";
import { removeTree } from "../fs/remove-tree.ts";
import { temporaryPath } from "../fs/temporary.ts";
import { unpackArchive } from "../fs/zip/zip-upload.ts";
import type { TakenExtension } from "./take-extensions.ts";

const limits: FileSystemLimits = {
  ...defaultLimits,
  archiveBytes: 50 * 2 ** 20,
  unpackedBytes: 512 * 2 ** 20,
  archiveEntries: 20_000,
};
const maxManifestBytes = 2 ** 20;

const extensionsFolder = "extensions";

export interface UnpackedExtension {
  readonly label: string;
  readonly name: string;
  /** Folder of its manifest, a path of the host. */
  readonly folder: string;
}

/** To `extensions/NAME`; replaces an existing one. @throws {ServiceError} 400, 413; nothing has changed then. */
export async function unpackExtension(
  root: SessionRoot,
  { label, name, archive }: TakenExtension,
  signal: AbortSignal,
): Promise<UnpackedExtension> {
  const home = `${root.home}/${extensionsFolder}`;
  const { existing, missing } = await locate(root, home, { follow: true, action: "unpack into" });
  const parent = join(existing, ...missing);
  return orServiceError("unpack into", home, async () => {
    await mkdir(parent, { recursive: true });
    const fresh = temporaryPath(parent);
    try {
      await unpackArchive(
        root,
        { archive, path: `${home}/${fresh.slice(parent.length + 1)}` },
        { limits, signal },
      ).catch((error: unknown) => {
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

function named(error: unknown, label: string): unknown {
  if (!ServiceError.isInstance(error)) return error;
  const { code, hint, limit, problem, status } = error;
  return new ServiceError(status, code, problem, { field: `${label}[zip_file]`, limit, hint, cause: error });
}

/** Finds the folder of the manifest: the top, or the only folder. */
async function manifestFolder(folder: string, label: string): Promise<readonly string[]> {
  const field = `${label}[zip_file]`;
  const names = (await readdir(folder)).filter((name) => name !== "__MACOSX" && name !== ".DS_Store");
  const inner = names.includes("manifest.json") ? [] : names.length === 1 ? names : undefined;
  const manifest = inner === undefined ? undefined : await readManifest(join(folder, ...inner, "manifest.json"));
  if (inner === undefined || manifest === undefined)
    throw invalidInput(field, "has no manifest.json at its top or in its only folder", {
      hint: "Zip the folder that contains manifest.json.",
    });
  checkManifest(manifest, field);
  return inner;
}

async function readManifest(path: string): Promise<string | undefined> {
  const stats = await lstat(path).catch(() => undefined);
  return stats?.isFile() === true && stats.size <= maxManifestBytes
    ? (await readFile(path, "utf8")).replace(/^\uFEFF/, "")
    : undefined;
}

function checkManifest(text: string, field: string): void {
  let manifest: unknown;
  try {
    manifest = JSON.parse(text);
  } catch (error) {
    throw invalidInput(field, `its manifest.json is not JSON: ${messageOf(error)}`);
  }
  if (typeof manifest !== "object" || manifest === null || Array.isArray(manifest))
    throw invalidInput(field, "its manifest.json must be a JSON object");
}
