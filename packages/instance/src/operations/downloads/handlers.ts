import type { browserDownloads, Page } from "@shoal/contract";
import { downloadNotFinished, downloadNotFound, downloadWithoutFile } from "@shoal/contract/refusals";
import { anySignal } from "@shoal/primitives";
import { type BytesReply, type Handlers, ServiceError } from "@shoal/router";
import type { BrowserDownload } from "@shoal/schemas";
import type { DownloadList } from "../../browser/downloads/download-list.ts";
import { type ListedDownload, originUrl, sessionPath } from "../../browser/downloads/listed-download.ts";
import { readFile } from "../fs/files/read.ts";
import type { SessionRoot } from "../fs/paths.ts";

/** @param closing - aborts when the session ends. */
export function downloadHandlers(
  root: SessionRoot,
  downloads: DownloadList,
  closing: AbortSignal,
): Handlers<typeof browserDownloads> {
  const shown = (download: ListedDownload) => toBrowserDownload(root.directory, download);
  function find(id: string): BrowserDownload {
    const found = downloads.find(id);
    if (found === undefined) throw ServiceError.of(downloadNotFound(id));
    return shown(found);
  }
  return {
    listBrowserDownloads: ({ query }) => pageOf(downloads.all(), query, shown),
    getBrowserDownload: ({ params }) => find(params.download_id),
    readBrowserDownload: ({ params }) => readDownload(root, find(params.download_id)),
    async waitForDownload({ body, signal }) {
      const { after, timeout_seconds } = body;
      if (after !== undefined && !downloads.hasFinished(after)) throw ServiceError.of(downloadNotFinished(after));
      const timeout = AbortSignal.timeout(timeout_seconds * 1000);
      const next = await downloads.next(after, anySignal([signal, closing, timeout]));
      return next && shown(next);
    },
  };
}

async function readDownload(root: SessionRoot, download: BrowserDownload): Promise<BytesReply> {
  if (download.path === null) throw ServiceError.of(downloadWithoutFile(download));
  return { ...(await readFile(root, download.path)), fileName: download.name };
}

function pageOf(
  found: readonly ListedDownload[],
  { limit, offset }: { readonly limit: number; readonly offset: number },
  shown: (download: ListedDownload) => BrowserDownload,
): Page<BrowserDownload> {
  const hasMore = found.length > offset + limit;
  return {
    items: found.slice(offset, offset + limit).map(shown),
    hasMore,
    nextOffset: hasMore ? offset + limit : undefined,
  };
}

function toBrowserDownload(root: string, download: ListedDownload): BrowserDownload {
  const { finishedAtMs, id, name, path, receivedBytes, sha256, sizeBytes, startedAtMs, state, url } = download;
  return {
    download_id: id,
    state,
    name: name.toWellFormed(),
    path: path === undefined ? null : (sessionPath(root, path) ?? null),
    size_bytes: sizeBytes === undefined ? null : Math.round(sizeBytes),
    received_bytes: Math.round(receivedBytes),
    sha256: sha256 ?? null,
    origin_url: originUrl(url),
    started_at: new Date(startedAtMs).toISOString(),
    finished_at: finishedAtMs === undefined ? null : new Date(finishedAtMs).toISOString(),
  };
}
