import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import { createChromeStore } from "./chrome-store.ts";
import { Extensions } from "./extensions.ts";
import { extensionHandlers } from "./handlers.ts";

export function extensionsFeature({ blobs, config, database }: Host) {
  const extensions = new Extensions({ database, blobs: blobs("extensions") });
  return {
    provides: extensions,
    handlers: extensionHandlers(extensions, createChromeStore(config.chrome_store_url)),
    jobs: [{ name: "archives that belong to no extension", run: () => extensions.sweep() }],
  } satisfies Feature;
}
