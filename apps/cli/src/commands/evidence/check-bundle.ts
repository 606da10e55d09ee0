import { messageOf } from "@shoal/primitives";
import { EvidenceManifest, EvidenceSignature } from "@shoal/schemas";
import { createHash, createPublicKey, verify } from "node:crypto";
import { type Entry, openPromise, type ZipFile } from "yauzl";

/** The archive is not a bundle with a valid signature and unchanged files. The message says why. */
export class BadBundle extends Error {
  override readonly name = "BadBundle";
}

export interface CheckedBundle {
  readonly manifest: EvidenceManifest;
  readonly keyId: string;
  /** Base64url. */
  readonly publicKey: string;
}

export interface CheckOptions {
  readonly signal: AbortSignal;
  /** Returns the base64url of the public key that must have signed. */
  readonly trustedKey: () => Promise<string>;
  /** For each piece of a file. */
  readonly onBytes: (bytes: number, totalBytes: number) => void;
}

const maxEntries = 200_000;
const maxManifestBytes = 64 * 2 ** 20;
const maxSignatureBytes = 64 * 1024;
const signedPrefix = Buffer.from("shoal evidence manifest\n");
const manifestName = "manifest.json";
const signatureName = "manifest.sig.json";
/** Sizes after the content of a file; less than a hidden file needs. */
const maxDescriptorBytes = 24;
/** End records of archives without and with ZIP64. */
const endBytes: readonly number[] = [22, 98];

/** Verifies the signature, and then each file against the manifest, piece by piece. @throws {BadBundle} */
export async function checkBundle(path: string, options: CheckOptions): Promise<CheckedBundle> {
  const zip = await openPromise(path, { autoClose: false, strictFileNames: true, validateEntrySizes: true }).catch(
    (error: unknown) => {
      if (error instanceof Error && "syscall" in error) throw error;
      throw new BadBundle(`it is not a ZIP archive: ${messageOf(error)}`);
    },
  );
  try {
    return await checkOpened(zip, options);
  } catch (error) {
    if (error instanceof BadBundle || !isOfArchive(error)) throw error;
    throw new BadBundle(messageOf(error));
  } finally {
    zip.close();
  }
}

/** Errors of yauzl and of decompression have no system call and no class. */
function isOfArchive(error: unknown): boolean {
  return error instanceof Error && error.constructor === Error && !("syscall" in error);
}

async function checkOpened(zip: ZipFile, { onBytes, signal, trustedKey }: CheckOptions): Promise<CheckedBundle> {
  const entries = await entriesOf(zip, signal);
  const text = await textOf(zip, entries.get(manifestName), maxManifestBytes);
  const signature = parsed(EvidenceSignature, await textOf(zip, entries.get(signatureName), maxSignatureBytes));
  const manifest = parsed(EvidenceManifest, text);
  if (manifest.format !== "shoal-evidence/1")
    throw new BadBundle(`its format ${JSON.stringify(manifest.format.slice(0, 50))} is unknown; update this program`);
  const trusted = await trustedKey();
  if (!isSigned(text, signature, trusted))
    throw new BadBundle(
      signature.public_key === trusted
        ? "the signature does not fit the manifest"
        : `key ${JSON.stringify(signature.key_id.slice(0, 60))} signed it for project ${JSON.stringify(manifest.project_id.slice(0, 60))}, not ${keyIdOf(trusted)}. Pass the project with --project, or its key with --key`,
    );
  await checkFiles(zip, { entries, manifest, onBytes, signal });
  return { manifest, keyId: keyIdOf(trusted), publicKey: trusted };
}

/** Every entry, in order. Refuses archives that programs may read in different ways. */
async function entriesOf(zip: ZipFile, signal: AbortSignal): Promise<Map<string, Entry>> {
  if (zip.entryCount > maxEntries) throw new BadBundle(`it has more than ${String(maxEntries)} files`);
  if (zip.comment !== "") throw new BadBundle("it has a comment");
  const entries = new Map<string, Entry>();
  let expected = 0;
  let directoryBytes = 0;
  for await (const entry of zip.eachEntry()) {
    signal.throwIfAborted();
    const name = entry.fileName;
    const shown = JSON.stringify(name.slice(0, 200));
    if (entries.has(name)) throw new BadBundle(`it has two files with the name ${shown}`);
    if (name.endsWith("/")) throw new BadBundle(`it has a folder ${shown}`);
    if (entry.isEncrypted()) throw new BadBundle(`${shown} is encrypted`);
    const local = await zip.readLocalFileHeaderPromise(entry);
    if (!local.fileName.equals(entry.fileNameRaw)) throw new BadBundle(`${shown} has another name before its content`);
    if (!follows(entry.relativeOffsetOfLocalHeader, expected))
      throw new BadBundle(`it has hidden bytes before ${shown}`);
    expected = local.fileDataStart + entry.compressedSize;
    directoryBytes += 46 + entry.fileNameLength + entry.extraFieldLength + entry.fileCommentLength;
    entries.set(name, entry);
  }
  const isWhole = endBytes.some((bytes) => follows(zip.fileSize - directoryBytes - bytes, expected));
  if (!isWhole) throw new BadBundle("it has hidden bytes at its end");
  return entries;
}

function follows(offset: number, expected: number): boolean {
  const gap = offset - expected;
  return gap >= 0 && gap <= (expected === 0 ? 0 : maxDescriptorBytes);
}

async function textOf(zip: ZipFile, entry: Entry | undefined, most: number): Promise<Buffer> {
  if (entry === undefined)
    throw new BadBundle(`${manifestName} or ${signatureName} is missing: it is not a bundle of evidence`);
  if (entry.uncompressedSize > most) throw new BadBundle(`${entry.fileName} is too large`);
  const pieces: Buffer[] = [];
  for await (const piece of await zip.openReadStreamPromise(entry)) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

interface Schema<Output> {
  safeParse(value: unknown): { readonly success: true; readonly data: Output } | { readonly success: false };
}

function parsed<Output>(schema: Schema<Output>, text: Buffer): Output {
  let value: unknown;
  try {
    value = JSON.parse(text.toString("utf8"));
  } catch {
    throw new BadBundle("its manifest or signature is not JSON");
  }
  const result = schema.safeParse(value);
  if (!result.success) throw new BadBundle("its manifest or signature has an unknown shape");
  return result.data;
}

function isSigned(text: Buffer, { algorithm, signature }: EvidenceSignature, x: string): boolean {
  if (algorithm !== "Ed25519") return false;
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  return verify(null, Buffer.concat([signedPrefix, text]), key, Buffer.from(signature, "base64url"));
}

/** The thumbprint of a public key (RFC 7638). */
export function keyIdOf(x: string): string {
  return createHash("sha256")
    .update(JSON.stringify({ crv: "Ed25519", kty: "OKP", x }))
    .digest("base64url");
}

async function checkFiles(
  zip: ZipFile,
  {
    entries,
    manifest,
    onBytes,
    signal,
  }: Pick<CheckOptions, "onBytes" | "signal"> & {
    readonly entries: ReadonlyMap<string, Entry>;
    readonly manifest: EvidenceManifest;
  },
): Promise<void> {
  const listed = new Set([...manifest.files.map(({ path }) => path), manifestName, signatureName]);
  const strange = [...entries.keys()].find((name) => !listed.has(name));
  if (strange !== undefined) throw new BadBundle(`its manifest does not list ${JSON.stringify(strange.slice(0, 200))}`);
  const totalBytes = manifest.files.reduce((sum, { size_bytes: size }) => sum + size, 0);
  for (const { path, sha256, size_bytes: size } of manifest.files) {
    const shown = JSON.stringify(path.slice(0, 200));
    const entry = entries.get(path);
    if (entry === undefined) throw new BadBundle(`${shown} is missing`);
    const hash = createHash("sha256");
    if (entry.uncompressedSize !== size) throw new BadBundle(`${shown} has another size`);
    for await (const piece of await zip.openReadStreamPromise(entry)) {
      signal.throwIfAborted();
      hash.update(piece as Buffer);
      onBytes((piece as Buffer).length, totalBytes);
    }
    if (hash.digest("hex") !== sha256) throw new BadBundle(`${shown} has another content`);
  }
}
