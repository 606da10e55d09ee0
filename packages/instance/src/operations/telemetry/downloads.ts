import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { relative, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { CdpConnection } from "../../browser/cdp/pipe-connection.ts";
import type { SessionDownloads } from "../../browser/downloads/session-downloads.ts";
import { Cutter, maxUrlBytes } from "./cut.ts";
import type { TelemetryRecorder } from "./recorder.ts";

interface DownloadsWatched {
  readonly cdp: CdpConnection;
  readonly recorder: TelemetryRecorder;
  /** The session's root as a directory of the host. */
  readonly root: string;
  readonly downloads: Pick<SessionDownloads, "placeOf">;
}

/** Reports finished downloads: complete files in their final place. Returns a function that stops. */
export function watchDownloads({ cdp, recorder, root, downloads }: DownloadsWatched): () => void {
  const begun = new Map<string, Protocol.Browser.DownloadWillBeginEvent>();

  async function finish(
    start: Protocol.Browser.DownloadWillBeginEvent | undefined,
    { filePath, receivedBytes, state }: Protocol.Browser.DownloadProgressEvent,
  ): Promise<void> {
    const cutter = new Cutter();
    const file = state === "completed" && filePath !== undefined ? await examine(filePath) : undefined;
    recorder.record({
      type: "download_finished",
      category: "page",
      source: { kind: "cdp", event: "Browser.downloadProgress" },
      data: {
        state: state === "completed" ? "completed" : "canceled",
        size_bytes: file?.sizeBytes ?? receivedBytes,
        ...(start && {
          url: cutter.text(start.url, maxUrlBytes),
          file_name: cutter.text(start.suggestedFilename, 1024),
          frame_id: start.frameId,
          target_id: start.frameId,
        }),
        ...(file !== undefined && filePath !== undefined && { path: apiPath(root, filePath), sha256: file.sha256 }),
      },
      ...cutter.mark,
    });
  }

  const stops = [
    cdp.on("Browser.downloadWillBegin", (event, sessionId) => {
      if (sessionId === undefined) begun.set(event.guid, event);
    }),
    cdp.on("Browser.downloadProgress", (event, sessionId) => {
      if (sessionId !== undefined || event.state === "inProgress") return;
      const start = begun.get(event.guid);
      begun.delete(event.guid);
      const place = downloads.placeOf(event.guid);
      void finish(start, place === undefined ? event : { ...event, filePath: place });
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

/** Returns the file's size and SHA-256; `undefined` when it is missing or unreadable. */
async function examine(path: string): Promise<{ sizeBytes: number; sha256: string } | undefined> {
  try {
    const hash = createHash("sha256");
    await pipeline(createReadStream(path), hash);
    return { sizeBytes: (await stat(path)).size, sha256: hash.digest("hex") };
  } catch {
    return undefined;
  }
}

function apiPath(root: string, path: string): string {
  return `/${relative(root, path).split(sep).join("/")}`;
}
