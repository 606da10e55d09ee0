import { badInput, ServiceError } from "@shoal/router";
import { type Entry, openPromise, type ZipFile } from "yauzl";

/** Size of an archive, in bytes. */
export const maxArchiveBytes = 50 * 2 ** 20;
/** Size of all files of an archive, unpacked, in bytes. */
export const maxUnpackedBytes = 512 * 2 ** 20;
/** Files and folders in an archive. */
export const maxEntries = 20_000;
const maxManifestBytes = 2 ** 20;

const linkType = 0o120000;
/** Types of entries that are taken: 0 where the archive says none. */
const plainTypes: readonly number[] = [0, 0o040000, 0o100000];
const typeMask = 0o170000;
const unix = 3;
/** Archives of macOS programs. */
const macOs = 19;
const descriptorFlag = 0x8;
/** In place of a size that an extra field holds, in the 64-bit form. */
const wideSize = 0xffff_ffff;

function unusable(problem: string, cause?: unknown): ServiceError {
  return badInput(`body.file: ${problem}`, { cause });
}

function unsafe(name: string, problem: string): ServiceError {
  const message = `body.file: the entry ${JSON.stringify(name.slice(0, 200))} ${problem}`;
  return new ServiceError(400, "unsafe_archive", message, { details: [{ code: "unsafe_archive", message }] });
}

/**
 * Checks an extension's archive without unpacking it: every path stays inside, no links, nothing encrypted, within the limits, and a manifest at its top
 * or in its only folder.
 *
 * @throws {ServiceError} 400 `unsafe_archive` or `bad_request`; 413 above a limit.
 */
export async function checkExtensionArchive(path: string): Promise<void> {
  let zip: ZipFile;
  try {
    zip = await openPromise(path, { autoClose: false, decodeStrings: true, validateEntrySizes: true, strictFileNames: false });
  } catch (error) {
    throw unusable(
      `is no ZIP archive that can be read: ${error instanceof Error ? error.message : String(error)}. Zip the folder of the unpacked extension`,
      error,
    );
  }
  try {
    await checkEntries(zip);
  } catch (error) {
    if (ServiceError.isInstance(error) || !(error instanceof Error) || "syscall" in error) throw error;
    // What the library itself says of paths: absolute ones, "..", drive letters.
    if (/absolute path|relative path|invalid characters in fileName/.test(error.message))
      throw new ServiceError(400, "unsafe_archive", `body.file: ${error.message}. Every path must stay inside the archive`, { cause: error });
    throw unusable(`is a damaged ZIP archive: ${error.message}`, error);
  } finally {
    zip.close();
  }
}

async function checkEntries(zip: ZipFile): Promise<void> {
  if (zip.entryCount > maxEntries)
    throw new ServiceError(413, "payload_too_large", `body.file: holds ${String(zip.entryCount)} entries; at most ${String(maxEntries)} are taken.`);
  const seen = new Set<string>();
  const tops = new Set<string>();
  const manifests = new Map<string, Entry>();
  let unpackedBytes = 0;
  for await (const entry of zip.eachEntry()) {
    const { fileName: name } = entry;
    if (name.includes("\0")) throw unsafe(name, "has a NUL character in its name");
    if (seen.has(name)) throw unsafe(name, "is there twice");
    seen.add(name);
    const mode = [unix, macOs].includes(entry.versionMadeBy >> 8) ? entry.externalFileAttributes >>> 16 : 0;
    if ((mode & typeMask) === linkType) throw unsafe(name, "is a symbolic link, which extensions must not hold");
    if (!plainTypes.includes(mode & typeMask)) throw unsafe(name, "is a device, a named pipe or a socket, which extensions must not hold");
    if (entry.isEncrypted()) throw unusable(`the entry ${JSON.stringify(name)} is encrypted. Zip the folder without a password`);
    if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8)
      throw unusable(`the entry ${JSON.stringify(name)} is packed in a way (${String(entry.compressionMethod)}) that is not known. Zip with deflate`);
    await checkLocalHeader(zip, entry);
    unpackedBytes += entry.uncompressedSize;
    if (unpackedBytes > maxUnpackedBytes)
      throw new ServiceError(413, "payload_too_large", `body.file: unpacks to more than ${String(maxUnpackedBytes / 2 ** 20)} MiB.`);
    // What macOS adds is no part of the extension.
    if (!name.startsWith("__MACOSX/")) tops.add(name.split("/", 1)[0] ?? "");
    if (/^(?:[^/]+\/)?manifest\.json$/.test(name)) manifests.set(name, entry);
  }
  const [folder = ""] = tops;
  const manifest = manifests.get("manifest.json") ?? (tops.size === 1 ? manifests.get(`${folder}/manifest.json`) : undefined);
  if (manifest === undefined) throw unusable("holds no manifest.json at its top or in its only folder. Zip the folder that manifest.json lies in");
  checkManifest(await contentOf(zip, manifest));
}

/** Readers that go by the header in front of an entry, not by the archive's directory, would see other files than those that are checked here. */
async function checkLocalHeader(zip: ZipFile, entry: Entry): Promise<void> {
  const local = await zip.readLocalFileHeaderPromise(entry);
  // Zero where the sizes follow the content.
  const unknown = (local.generalPurposeBitFlag & descriptorFlag) === 0 ? [] : [0];
  const isSame =
    local.fileName.equals(entry.fileNameRaw) &&
    local.compressionMethod === entry.compressionMethod &&
    [entry.crc32, ...unknown].includes(local.crc32) &&
    [entry.compressedSize, wideSize, ...unknown].includes(local.compressedSize) &&
    [entry.uncompressedSize, wideSize, ...unknown].includes(local.uncompressedSize);
  if (!isSame) throw unsafe(entry.fileName, "has a header of its own that contradicts the archive's directory");
}

async function contentOf(zip: ZipFile, entry: Entry): Promise<string> {
  if (entry.uncompressedSize > maxManifestBytes) throw unusable(`its manifest.json is larger than ${String(maxManifestBytes / 2 ** 20)} MiB`);
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
    throw unusable(`its manifest.json is not JSON: ${error instanceof Error ? error.message : String(error)}`, error);
  }
  if (typeof manifest !== "object" || manifest === null || Array.isArray(manifest)) throw unusable("its manifest.json must be a JSON object");
  const { manifest_version, name, version } = manifest as Readonly<Record<string, unknown>>;
  if (manifest_version !== 2 && manifest_version !== 3) throw unusable("its manifest.json must have a manifest_version of 3 (or 2)");
  if (typeof name !== "string" || name === "") throw unusable("its manifest.json must have a name");
  if (typeof version !== "string" || !/^\d+(?:\.\d+){0,3}$/.test(version))
    throw unusable('its manifest.json must have a version of one to four numbers, such as "1.0"');
}
