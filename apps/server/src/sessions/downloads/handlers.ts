import type { browserDownloads } from "@shoal/contract";
import { downloadNotFinished, downloadNotFound, downloadWithoutFile } from "@shoal/contract/refusals";
import { type Handlers, ServiceError } from "@shoal/router";
import type { BrowserDownload } from "@shoal/schemas";
import type { DownloadStore } from "./download-store.ts";
import type { KeptOf } from "./kept-files.ts";

/** For ended sessions; instances answer for running ones. */
export function downloadHandlers(store: DownloadStore): Handlers<typeof browserDownloads, KeptOf> {
  async function find(of: KeptOf, id: string): Promise<BrowserDownload> {
    requireRetention(store, of);
    const found = await store.find(of, id);
    if (found === undefined) throw ServiceError.of(downloadNotFound(id));
    return found;
  }
  return {
    async listBrowserDownloads({ context, query: { limit, offset } }) {
      requireRetention(store, context);
      const found = (await store.list(context)).reverse();
      const hasMore = found.length > offset + limit;
      return {
        items: found.slice(offset, offset + limit),
        hasMore,
        nextOffset: hasMore ? offset + limit : undefined,
      };
    },
    getBrowserDownload: ({ context, params }) => find(context, params.download_id),
    async readBrowserDownload({ context, params }) {
      const download = await find(context, params.download_id);
      if (download.path === null) throw ServiceError.of(downloadWithoutFile(download));
      return {
        stream: await store.read(context, download),
        sizeBytes: download.size_bytes ?? 0,
        fileName: download.name,
      };
    },
    async waitForDownload({ body: { after }, context }) {
      requireRetention(store, context);
      const kept = await store.list(context);
      const place = after === undefined ? -1 : kept.findIndex(({ download_id }) => download_id === after);
      if (after !== undefined && place < 0) throw ServiceError.of(downloadNotFinished(after));
      const next = kept[place + 1];
      if (next === undefined)
        throw new ServiceError(
          404,
          "not_found",
          `Browser ${context.sessionId} has ended, and has no further downloads.`,
          {
            hint: "List its downloads with browsers.downloads.list.",
          },
        );
      return next;
    },
  };
}

function requireRetention({ retentionHours }: DownloadStore, { sessionId }: KeptOf): void {
  if (retentionHours > 0) return;
  throw new ServiceError(
    404,
    "not_found",
    `Browser ${sessionId} has ended, and its downloads were deleted with it: download_retention_hours is 0.`,
    { hint: "Read downloads before the session ends, or set download_retention_hours on the server." },
  );
}
