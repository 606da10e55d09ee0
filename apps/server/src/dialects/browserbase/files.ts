import { contract as native, browserDownloads } from "@shoal/contract";
import type { Instance } from "@shoal/placement";
import { badInput, type BytesReply, type MultipartPart, ServiceError } from "@shoal/router";
import { PassThrough, type Readable } from "node:stream";
import { ZipFile } from "yazl";
import { hasFile, openDownload } from "../../sessions/downloads/instance-downloads.ts";
import type { DialectCaller, DialectParts } from "../kit/dialect.ts";
import { archiveName } from "../../storage/archives/archive-name.ts";
import { finishedDownloads } from "../kit/finished-downloads.ts";
import { writeFile } from "../kit/instance-calls.ts";
import { browserOf } from "../kit/browsers.ts";

/** Where clients of the vendor expect files for `DOM.setFileInputFiles`. */
const uploadFolder = "/tmp/.uploads";
/** Of a file system. */
const maxNameBytes = 255;

/** @throws {ServiceError} 400 for a name with a path. */
export async function uploadFile(
  { calls }: DialectCaller,
  id: string,
  { parts, signal }: { readonly parts: AsyncIterable<MultipartPart>; readonly signal: AbortSignal },
): Promise<{ message: string }> {
  const instance = await calls.instanceFor(native.writeFile, id);
  let path: string | undefined;
  for await (const part of parts) {
    if (part.kind === "field") throw badInput("body.file", "must be a file: send the part with a filename");
    if (path !== undefined) throw badInput("body.file", "is duplicated");
    path = `${uploadFolder}/${plainName(part.filename)}`;
    await writeFile(instance, { path, content: part.stream, signal, sessionId: id });
  }
  if (path === undefined) throw badInput("body.file", "required (expected a file)");
  return { message: `Uploaded to ${path}.` };
}

function plainName(name: string): string {
  const isPlain = name !== "" && name !== "." && name !== ".." && !/[/\\\p{Cc}]/u.test(name);
  if (!isPlain || Buffer.byteLength(name) > maxNameBytes)
    throw badInput("body.file", "the filename must be a plain name, without a path", { limit: maxNameBytes });
  return name;
}

interface Download {
  readonly name: string;
  readonly open: () => Promise<Readable>;
}

/** A ZIP archive of what the session downloaded, also after its end. */
export async function downloadFiles(parts: DialectParts, { calls }: DialectCaller, id: string): Promise<BytesReply> {
  const params: Record<string, string | undefined> = { id };
  const { projectId } = await calls.admit(browserDownloads.readBrowserDownload, params);
  const { deleted_at: endedAt, session_id: sessionId } = await browserOf(calls, params.id ?? id);
  const downloads =
    endedAt === undefined
      ? await ofInstance(await parts.sessions.instanceHere(projectId, sessionId), sessionId)
      : await ofStore(parts, { projectId, sessionId });
  return { stream: archiveOf(downloads), fileName: `${sessionId}.zip`, contentType: "application/zip" };
}

async function ofInstance(instance: Instance, sessionId: string): Promise<Download[]> {
  const found = await finishedDownloads(instance, sessionId);
  return found.reverse().map(({ download_id: id, name }) => ({
    name,
    open: () => openDownload(instance, id),
  }));
}

async function ofStore(
  { downloads }: DialectParts,
  of: { readonly projectId: string; readonly sessionId: string },
): Promise<Download[]> {
  if (downloads.retentionHours === 0)
    throw new ServiceError(404, "not_found", `The downloads of session ${of.sessionId} were deleted at its end.`, {
      hint: "Read them while it runs, or set download_retention_hours on the server.",
    });
  return (await downloads.list(of)).filter(hasFile).map((download) => ({
    name: download.name,
    open: () => downloads.read(of, download),
  }));
}

function archiveOf(downloads: readonly Download[]): Readable {
  const zip = new ZipFile();
  const output = new PassThrough();
  const taken = new Set<string>();
  let content: Readable | undefined;
  for (const { name, open } of downloads) {
    zip.addReadStreamLazy(unique(archiveName(name), taken), (done) => {
      const opened = open().then((stream) => {
        content = stream;
        if (output.destroyed) stream.destroy();
        done(null, stream);
      });
      opened.catch((error: unknown) => output.destroy(error instanceof Error ? error : undefined));
    });
  }
  zip.on("error", (error: unknown) => output.destroy(error instanceof Error ? error : undefined));
  output.once("close", () => content?.destroy());
  zip.end();
  zip.outputStream.pipe(output);
  return output;
}

function unique(name: string, taken: Set<string>): string {
  const [, base = name, ending = ""] = /^(.+?)(\.[^.]{1,16})?$/s.exec(name) ?? [];
  let free = name;
  for (let count = 1; taken.has(free.toLowerCase()); count += 1) free = `${base} (${String(count)})${ending}`;
  taken.add(free.toLowerCase());
  return free;
}
