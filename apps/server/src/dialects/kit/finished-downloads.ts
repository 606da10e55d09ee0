import type { Instance } from "@shoal/placement";
import type { BrowserDownload } from "@shoal/schemas";
import { eachDownload, hasFile } from "../../sessions/downloads/instance-downloads.ts";
import { noAnswer } from "../../sessions/instance-plane/no-answer.ts";

/** As many as an instance lists. */
const maxDownloads = 1000;

/** Finished downloads of a running session with a file, newest first. @throws {ServiceError} 503 */
export async function finishedDownloads(instance: Instance, sessionId: string): Promise<BrowserDownload[]> {
  const found: BrowserDownload[] = [];
  try {
    for await (const download of eachDownload(instance, maxDownloads)) if (hasFile(download)) found.push(download);
  } catch (error) {
    throw noAnswer(error, sessionId);
  }
  return found;
}

/** Sites choose the names of downloads, so none may leave the folder that an archive is unpacked in. */
export function archiveName(name: string): string {
  const safe = name
    .toWellFormed()
    .replaceAll(/[/\\:*?"<>|\p{Cc}\p{Cf}]/gu, "_")
    .replace(/^\.+$/, "_")
    .slice(0, 200);
  return safe === "" ? "download" : safe;
}
