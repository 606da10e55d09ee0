import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import { operatorRule } from "../../host/operator-rule.ts";
import { createChromeStore } from "./chrome-store.ts";
import { Extensions } from "./extensions.ts";
import { extensionHandlers } from "./handlers.ts";

export function extensionsFeature({ blobs, config, database, otherServers }: Host) {
  const extensions = new Extensions({ database, blobs: blobs("extensions") });
  const rule = operatorRule({ config, otherServers }, [config.chrome_store_url]);
  return {
    provides: extensions,
    handlers: extensionHandlers(extensions, createChromeStore(config.chrome_store_url, rule)),
    jobs: [{ name: "archives that belong to no extension", run: () => extensions.sweep() }],
  } satisfies Feature;
}
