import { messageOf } from "@shoal/primitives";
import { badInput, ServiceError } from "@shoal/router";
import type { Entry, ZipFile } from "yauzl";
import { ArchiveProblem, safeEntries, withZip } from "../../storage/archives/zip-entries.ts";

export const maxArchiveBytes = 50 * 2 ** 20;
const limits = { entries: 20_000, unpackedBytes: 512 * 2 ** 20, links: "refused" } as const;
const maxManifestBytes = 2 ** 20;
const field = "body.file";

function unusable(problem: string, cause?: unknown): ServiceError {
  return badInput(field, problem, { cause });
}

function toServiceError(problem: ArchiveProblem): ServiceError {
  const { kind, limit, message } = problem;
  switch (kind) {
    case "unsafe":
      return new ServiceError(400, "unsafe_archive", message, {
        cause: problem,
        field,
        hint: "Zip the folder that contains manifest.json.",
      });
    case "too_large":
      return new ServiceError(413, "payload_too_large", message, { cause: problem, field, ...(limit && { limit }) });
    case "unusable":
      return badInput(field, message, { cause: problem, hint: "Zip the folder that contains manifest.json." });
  }
}

/**
 * Without unpacking: paths inside the archive, no links, no encryption, size limits, and a manifest at the top or in
 * the only folder.
 * @throws {ServiceError} 400 `unsafe_archive` or `bad_request`; 413 above a limit.
 */
export async function checkExtensionArchive(path: string): Promise<void> {
  try {
    await withZip(path, async (zip) => {
      checkManifest(await contentOf(zip, await findManifest(zip)));
    });
  } catch (error) {
    throw error instanceof ArchiveProblem ? toServiceError(error) : error;
  }
}

async function findManifest(zip: ZipFile): Promise<Entry> {
  const tops = new Set<string>();
  const manifests = new Map<string, Entry>();
  for await (const { entry, path } of safeEntries(zip, limits)) {
    if (!path.startsWith("__MACOSX/")) tops.add(path.split("/", 1)[0] ?? "");
    if (/^(?:[^/]+\/)?manifest\.json$/.test(path)) manifests.set(path, entry);
  }
  const [folder = ""] = tops;
  const manifest =
    manifests.get("manifest.json") ?? (tops.size === 1 ? manifests.get(`${folder}/manifest.json`) : undefined);
  if (manifest === undefined) throw unusable("has no manifest.json at its top or in its only folder");
  return manifest;
}

async function contentOf(zip: ZipFile, entry: Entry): Promise<string> {
  if (entry.uncompressedSize > maxManifestBytes)
    throw unusable(`its manifest.json is larger than ${String(maxManifestBytes / 2 ** 20)} MiB`);
  const chunks: Buffer[] = [];
  for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks)
    .toString("utf8")
    .replace(/^\uFEFF/, "");
}

function checkManifest(text: string): void {
  let manifest: unknown;
  try {
    manifest = JSON.parse(text);
  } catch (error) {
    throw unusable(`its manifest.json is not JSON: ${messageOf(error)}`, error);
  }
  if (typeof manifest !== "object" || manifest === null || Array.isArray(manifest))
    throw unusable("its manifest.json must be a JSON object");
  const { manifest_version, name, version } = manifest as Readonly<Record<string, unknown>>;
  if (manifest_version !== 2 && manifest_version !== 3)
    throw unusable("its manifest.json must have a manifest_version of 3 (or 2)");
  if (typeof name !== "string" || name === "") throw unusable("its manifest.json must have a name");
  if (typeof version !== "string" || !/^\d+(?:\.\d+){0,3}$/.test(version))
    throw unusable('its manifest.json must have a version of one to four numbers, such as "1.0"');
}
