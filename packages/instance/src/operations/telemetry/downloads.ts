import { sessionPath, type ListedDownload } from "../../browser/downloads/listed-download.ts";
import type { SessionDownloads } from "../../browser/downloads/session-downloads.ts";
import { Cutter, maxUrlBytes } from "./cut.ts";
import type { TelemetryRecorder } from "./recorder.ts";

interface DownloadsWatched {
  readonly recorder: TelemetryRecorder;
  /** The session's root as a directory of the host. */
  readonly root: string;
  readonly downloads: SessionDownloads["list"];
}

/** Reports finished downloads: complete files in their final place. Returns a function that stops. */
export function watchDownloads({ recorder, root, downloads }: DownloadsWatched): () => void {
  return downloads.onFinished((download) => {
    record(recorder, root, download);
  });
}

function record(recorder: TelemetryRecorder, root: string, download: ListedDownload): void {
  const { frameId, id, name, path, receivedBytes, sha256, sizeBytes, state, url } = download;
  const cutter = new Cutter();
  recorder.record({
    type: "download_finished",
    category: "page",
    source: { kind: "cdp", event: "Browser.downloadProgress" },
    data: {
      state,
      download_id: id,
      size_bytes: path === undefined ? receivedBytes : (sizeBytes ?? receivedBytes),
      url: cutter.text(url, maxUrlBytes),
      file_name: cutter.text(name, 1024),
      frame_id: frameId,
      target_id: frameId,
      ...(path !== undefined && { path: sessionPath(root, path) }),
      ...(sha256 !== undefined && { sha256 }),
    },
    ...cutter.mark,
  });
}
