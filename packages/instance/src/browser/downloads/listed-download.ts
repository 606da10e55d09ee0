import { realpathSync } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";

export interface StartedDownload {
  /** Chromium's GUID. */
  readonly id: string;
  /** Suggested by the site. */
  readonly name: string;
  readonly url: string;
  readonly frameId: string;
}

export interface DownloadEnd {
  readonly state: "completed" | "canceled" | "interrupted";
  readonly receivedBytes?: number;
  readonly sizeBytes?: number;
  /** A path of the host. */
  readonly path?: string | undefined;
  readonly sha256?: string | undefined;
}

export interface ListedDownload extends StartedDownload {
  readonly state: "in_progress" | DownloadEnd["state"];
  /** A path of the host; only of a complete file. */
  readonly path: string | undefined;
  /** The expected size while it runs; `undefined` if unknown. */
  readonly sizeBytes: number | undefined;
  readonly receivedBytes: number;
  /** `undefined` also if the file changed while it was read. */
  readonly sha256: string | undefined;
  readonly startedAtMs: number;
  readonly finishedAtMs: number | undefined;
}

const maxUrlLength = 2048;

/** Removes parts of an address that often contain secrets: credentials, query and fragment; also the data of `data:`. */
export function originUrl(url: string): string {
  if (url.startsWith("blob:")) return `blob:${URL.parse(url.slice("blob:".length))?.origin ?? ""}`;
  const parsed = URL.parse(url);
  if (parsed === null) return "";
  if (parsed.host === "") return parsed.protocol;
  return `${parsed.protocol}//${parsed.host}${parsed.pathname}`.slice(0, maxUrlLength);
}

/** Returns a path of the host as a path of the session's files; `undefined` outside of them. */
export function sessionPath(root: string, path: string): string | undefined {
  for (const top of [root, realpathSync(root)]) {
    const below = relative(top, path);
    if (below !== ".." && !below.startsWith(`..${sep}`) && !isAbsolute(below)) return `/${below.split(sep).join("/")}`;
  }
  return undefined;
}
