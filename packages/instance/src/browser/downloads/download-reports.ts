import type { InstanceEvent } from "../../protocol/protocol.ts";
import { type ListedDownload, sessionPath } from "./listed-download.ts";

export type DownloadFinished = Extract<InstanceEvent, { type: "download_finished" }>;

/** The service ends instances that send too many events, and a page can start downloads in a loop. */
const maxPerSecond = 20;
const maxWaiting = 1_000;
const maxNameLength = 1024;
const maxPathLength = 2048;

/** Reports finished downloads to the service. More than 20 a second are sent later; above 1000 waiting ones, they are dropped. */
export class DownloadReports {
  readonly #root: string;
  readonly #send: (event: DownloadFinished) => void;
  readonly #waiting: DownloadFinished[] = [];
  #sent = 0;
  #isPacing = false;

  constructor(root: string, send: (event: DownloadFinished) => void) {
    this.#root = root;
    this.#send = send;
  }

  report(download: ListedDownload): void {
    if (download.state === "in_progress" || this.#waiting.length >= maxWaiting) return;
    this.#waiting.push(this.#eventOf(download, download.state));
    this.#flush();
  }

  #flush(): void {
    for (; this.#sent < maxPerSecond; this.#sent++) {
      const event = this.#waiting.shift();
      if (event === undefined) break;
      this.#send(event);
    }
    if (this.#isPacing) return;
    this.#isPacing = true;
    setTimeout(() => {
      this.#isPacing = false;
      this.#sent = 0;
      if (this.#waiting.length > 0) this.#flush();
    }, 1000).unref();
  }

  #eventOf(download: ListedDownload, state: DownloadFinished["state"]): DownloadFinished {
    const { id, name, path, receivedBytes, sha256, sizeBytes, url } = download;
    const shown = path === undefined ? undefined : sessionPath(this.#root, path);
    return {
      type: "download_finished",
      download_id: id,
      state,
      file_name: name.slice(0, maxNameLength).toWellFormed(),
      path: shown === undefined || shown.length > maxPathLength ? null : shown.toWellFormed(),
      size_bytes: Math.max(0, Math.round(path === undefined ? receivedBytes : (sizeBytes ?? receivedBytes))),
      sha256: sha256 ?? null,
      host: URL.parse(url)?.host.slice(0, 255) ?? "",
    };
  }
}
