import { duplicatePart, fileExpected, listInOnePart, partRequired, textExpected } from "@shoal/contract/refusals";
import { ServiceError, type MultipartPart } from "@shoal/router";
import { SlugName } from "@shoal/schemas";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { invalidInput, orServiceError } from "../fs/errors.ts";
import { stageFile } from "../fs/temporary.ts";

const maxExtensions = 20;
/** Maximum total size of a request's archives in bytes. */
const maxArchivesBytes = 1000 * 2 ** 20;

const partName = /^extensions\[(\d{0,4})\]\[(name|zip_file)\]$/;

export interface TakenExtension {
  /** `body.extensions[3]`, for messages. */
  readonly label: string;
  readonly name: string;
  readonly archive: string;
}

interface Incoming {
  readonly label: string;
  name?: string;
  archive?: string;
}

/**
 * Removes the archives afterwards. @throws {ServiceError} 400 that names a part, 413 above a limit.
 * @param parts - `extensions[i][name]` and `extensions[i][zip_file]`, or `extensions[][…]`, where the n-th name belongs
 * to the n-th file.
 */
export async function withExtensions<T>(
  parts: AsyncIterable<MultipartPart>,
  spoolDirectory: string | undefined,
  use: (extensions: readonly TakenExtension[]) => Promise<T>,
): Promise<T> {
  const incoming = new Map<string, Incoming>();
  const counts = { name: 0, zip_file: 0 };
  let usedBytes = 0;
  try {
    for await (const part of parts) {
      const [, index, field] = partName.exec(part.name) ?? [];
      if (index === undefined || (field !== "name" && field !== "zip_file"))
        throw ServiceError.of(listInOnePart(part.name, "extensions[0][name] and extensions[0][zip_file]"));
      const key = index === "" ? String(counts[field]++) : String(Number(index));
      const extension: Incoming = incoming.get(key) ?? { label: `body.extensions[${key}]` };
      incoming.set(key, extension);
      if (incoming.size > maxExtensions)
        throw invalidInput("body.extensions", `expected at most ${String(maxExtensions)} extensions`, {
          limit: maxExtensions,
          hint: "Send the others in another request.",
        });
      const label = `${extension.label}[${field}]`;
      if (field === "name") extension.name = readName(extension, label, part);
      else {
        if (part.kind === "field") throw ServiceError.of(fileExpected(label));
        if (extension.archive !== undefined) throw ServiceError.of(duplicatePart(label));
        const staged = await orServiceError("take in", "the archive", () =>
          stageFile(spoolDirectory ?? tmpdir(), part.stream, {
            what: "The sum of the archives",
            bytes: maxArchivesBytes,
            usedBytes,
          }),
        );
        extension.archive = staged.path;
        usedBytes += staged.sizeBytes;
      }
    }
    return await use(whole([...incoming.values()]));
  } finally {
    for (const { archive } of incoming.values()) if (archive !== undefined) await rm(archive, { force: true });
  }
}

function readName(extension: Incoming, label: string, part: MultipartPart): string {
  if (part.kind === "file") throw ServiceError.of(textExpected(label));
  if (extension.name !== undefined) throw ServiceError.of(duplicatePart(label));
  if (!SlugName.safeParse(part.value).success || /^\.+$/.test(part.value))
    throw invalidInput(label, "expected 1 to 255 letters, digits, dots, underscores and hyphens");
  return part.value;
}

function whole(extensions: readonly Incoming[]): TakenExtension[] {
  if (extensions.length === 0)
    throw ServiceError.of(partRequired("body.extensions", "parts extensions[0][name] and extensions[0][zip_file]"));
  const names = new Set<string>();
  return extensions.map(({ label, name, archive }) => {
    if (name === undefined) throw ServiceError.of(partRequired(`${label}[name]`, "the extension's name"));
    if (archive === undefined) throw ServiceError.of(partRequired(`${label}[zip_file]`, "a ZIP archive"));
    if (names.has(name)) throw invalidInput(`${label}[name]`, `another extension of this request has the name ${name}`);
    names.add(name);
    return { label, name, archive };
  });
}
