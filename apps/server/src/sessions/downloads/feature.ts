import { browserDownloads, type Endpoint } from "@shoal/contract";
import { mountAll } from "@shoal/router/fastify";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { join } from "node:path";
import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import type { SessionFiles } from "../../storage/session-files/session-files.ts";
import { DownloadStore } from "./download-store.ts";
import { downloadHandlers } from "./handlers.ts";
import type { KeptOf } from "./kept-files.ts";

interface DownloadNeeds {
  readonly files: SessionFiles;
  /** Admits a caller to the downloads of an ended session. @throws {RequestTaken} when the instance answers. */
  readonly accessOf: (request: FastifyRequest, endpoint: Endpoint) => Promise<KeptOf>;
}

export function downloadsFeature({ config, dataDir, log, secrets }: Host, { accessOf, files }: DownloadNeeds) {
  const store = new DownloadStore({
    directory: join(dataDir.path, "downloads"),
    retentionHours: config.download_retention_hours,
    maxBytes: config.download_max_gib * 2 ** 30,
    secrets,
    stored: files,
    log,
  });
  return {
    provides: store,
    serve(app: FastifyInstance) {
      mountAll(app, browserDownloads, downloadHandlers(store), {
        unknownFields: config.unknown_fields,
        context: accessOf,
      });
    },
    sweeps: [{ run: () => store.sweep(), problem: "old downloads could not be removed" }],
  } satisfies Feature;
}
