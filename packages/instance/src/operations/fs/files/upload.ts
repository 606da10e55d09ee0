import { hasCode } from "@shoal/primitives";
import {
  destinationBelowFile,
  duplicatePart,
  fileExpected,
  listInOnePart,
  partIndexTooHigh,
  partRequired,
  sameDestination,
  textExpected,
} from "@shoal/contract/refusals";
import { ServiceError, type MultipartPart } from "@shoal/router";
import { constants } from "node:fs";
import { copyFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { invalidInput, orServiceError } from "../errors.ts";
import type { FileSystemLimits } from "../limits.ts";
import { normalisePath, type SessionRoot } from "../paths.ts";
import { findTarget, placeFile, type FileTarget } from "./targets.ts";
import { stageFile, temporaryPath } from "../temporary.ts";

const partName = /^files\[(\d*)\]\[(dest_path|file)\]$/;

interface Incoming {
  readonly label: string;
  path?: string;
  target?: FileTarget;
  /** Next to the destination, or in the spool directory while the destination is unknown. */
  temporary?: string | undefined;
}

/** Validates the whole request first. Fields are `files[i][dest_path]` and `files[i][file]` or `files[][…]`. */
export async function uploadFiles(
  root: SessionRoot,
  parts: AsyncIterable<MultipartPart>,
  limits: FileSystemLimits,
): Promise<void> {
  const files = new Map<string, Incoming>();
  const counts = { dest_path: 0, file: 0 };
  let usedBytes = 0;
  try {
    for await (const part of parts) {
      const { index, field } = readName(part.name, limits);
      const key = index === "" ? `[${counts[field]++}]` : String(Number(index));
      const label = index === "" ? `body.files[${key.slice(1, -1)}]` : `body.files[${key}]`;
      const file = files.get(key) ?? { label };
      files.set(key, file);
      if (files.size > limits.uploadFiles)
        throw invalidInput("body.files", `expected at most ${limits.uploadFiles} files`, {
          limit: limits.uploadFiles,
          hint: "Send the others in another request.",
        });
      if (part.kind === "field") takePath(file, field, part.value);
      else usedBytes += await takeContent(root, file, { field, stream: part.stream, limits, usedBytes });
    }
    for (const file of await completed(root, [...files.values()])) {
      await orServiceError("write", file.target.path, () => placeFile(file.target, file.temporary, undefined));
      file.incoming.temporary = undefined;
    }
  } finally {
    await Promise.all(
      [...files.values()].map(async ({ temporary }) => temporary !== undefined && rm(temporary, { force: true })),
    );
  }
}

function readName(name: string, limits: FileSystemLimits): { index: string; field: "dest_path" | "file" } {
  const match = partName.exec(name);
  const [, index, field] = match ?? [];
  if (index === undefined || (field !== "dest_path" && field !== "file"))
    throw ServiceError.of(listInOnePart(name, "files[0][dest_path] and files[0][file]"));
  if (Number(index) > limits.uploadFiles) throw ServiceError.of(partIndexTooHigh(name, limits.uploadFiles));
  return { index, field };
}

function takePath(file: Incoming, field: "dest_path" | "file", value: string): void {
  const name = `${file.label}[${field}]`;
  if (field === "file") throw ServiceError.of(fileExpected(name));
  if (file.path !== undefined) throw ServiceError.of(duplicatePart(name));
  file.path = normalisePath(value, name);
}

async function takeContent(
  root: SessionRoot,
  file: Incoming,
  part: {
    readonly field: "dest_path" | "file";
    readonly stream: Readable;
    readonly limits: FileSystemLimits;
    readonly usedBytes: number;
  },
): Promise<number> {
  const { field, limits, stream, usedBytes } = part;
  const name = `${file.label}[${field}]`;
  if (field === "dest_path") throw ServiceError.of(textExpected(name));
  if (file.temporary !== undefined) throw ServiceError.of(duplicatePart(name));
  const { path } = file;
  return orServiceError("write", path ?? name, async () => {
    if (path !== undefined) file.target = await findTarget(root, path);
    const staged = await stageFile(file.target?.stagingDirectory ?? root.spoolDirectory ?? tmpdir(), stream, {
      what: "The sum of the files",
      bytes: limits.uploadBytes,
      usedBytes,
    });
    file.temporary = staged.path;
    return staged.sizeBytes;
  });
}

interface Completed {
  readonly incoming: Incoming;
  readonly target: FileTarget;
  readonly temporary: string;
}

/** Moves spooled content next to its destination. */
async function completed(root: SessionRoot, files: readonly Incoming[]): Promise<Completed[]> {
  if (files.length === 0)
    throw ServiceError.of(partRequired("body.files", "parts files[0][dest_path] and files[0][file]"));
  const ready: Completed[] = [];
  for (const incoming of files) {
    const { label, path } = incoming;
    if (path === undefined)
      throw ServiceError.of(partRequired(`${label}[dest_path]`, "the absolute path that the file is written to"));
    if (incoming.temporary === undefined) throw ServiceError.of(partRequired(`${label}[file]`, "a file"));
    const { temporary } = incoming;
    const target = incoming.target ?? (await orServiceError("write", path, () => findTarget(root, path)));
    ready.push({ incoming, target, temporary });
  }
  refuseCollisions(ready);
  const placed: Completed[] = [];
  for (const { incoming, target, temporary } of ready) {
    const near =
      incoming.target === undefined
        ? await orServiceError("write", target.path, () => moveBeside(target, temporary))
        : temporary;
    incoming.temporary = near;
    placed.push({ incoming, target, temporary: near });
  }
  return placed;
}

function refuseCollisions(files: readonly Completed[]): void {
  const places = new Map<string, Incoming>();
  for (const { incoming, target } of files) {
    const place = join(target.base, ...target.names);
    const other = places.get(place);
    if (other !== undefined) throw ServiceError.of(sameDestination(incoming.label, other.label));
    places.set(place, incoming);
  }
  for (const [place, incoming] of places) {
    for (let above = dirname(place); above !== dirname(above); above = dirname(above)) {
      const other = places.get(above);
      if (other !== undefined) throw ServiceError.of(destinationBelowFile(incoming.label, other.label));
    }
  }
}

async function moveBeside(target: FileTarget, spooled: string): Promise<string> {
  const near = temporaryPath(target.stagingDirectory);
  try {
    await rename(spooled, near);
  } catch (error) {
    if (!hasCode(error, "EXDEV")) throw error;
    try {
      await copyFile(spooled, near, constants.COPYFILE_EXCL);
    } catch (copyError) {
      await rm(near, { force: true });
      throw copyError;
    }
    await rm(spooled, { force: true });
  }
  return near;
}
