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
