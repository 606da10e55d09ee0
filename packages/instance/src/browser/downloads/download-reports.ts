import { relative, sep } from "node:path";
import type { InstanceEvent } from "../../protocol/protocol.ts";

export type DownloadFinished = Extract<InstanceEvent, { type: "download_finished" }>;

export interface FinishedDownload {
  readonly state: "completed" | "canceled";
  readonly suggestedName: string;
  readonly url: string;
  /** A path of the host. */
  readonly path: string | undefined;
  readonly sizeBytes: number;
}

/** A page can start downloads in a loop; the service ends instances that send too many events. */
const maxPerSecond = 20;
const maxNameLength = 1024;
const maxPathLength = 2048;

/** Reports finished downloads to the service, a bounded number each second. */
export class DownloadReports {
  readonly #root: string;
  readonly #send: (event: DownloadFinished) => void;
  #second = 0;
  #sent = 0;

  constructor(root: string, send: (event: DownloadFinished) => void) {
    this.#root = root;
    this.#send = send;
  }

  report({ path, sizeBytes, state, suggestedName, url }: FinishedDownload): void {
    const second = Math.trunc(performance.now() / 1000);
    if (second !== this.#second) this.#sent = 0;
    this.#second = second;
    if (++this.#sent > maxPerSecond) return;
    const shown = path === undefined ? undefined : `/${relative(this.#root, path).split(sep).join("/")}`;
    this.#send({
      type: "download_finished",
      state,
      file_name: suggestedName.slice(0, maxNameLength).toWellFormed(),
      path: shown === undefined || shown.length > maxPathLength ? null : shown.toWellFormed(),
      size_bytes: Math.max(0, Math.round(sizeBytes)),
      host: URL.parse(url)?.host.slice(0, 255) ?? "",
    });
  }
}
