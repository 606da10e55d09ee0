import type { Placement } from "@shoal/placement";
import { join } from "node:path";
import type { AppRuntime } from "../../apps/runtime/app-runtime.ts";
import { LazyAppRuntime } from "../../apps/runtime/lazy-app-runtime.ts";
import { LocalAppRuntime } from "../../apps/runtime/local-app-runtime.ts";
import type { BoxConnections } from "../../http/box-connections.ts";
import type { Blobs } from "../../storage/blobs/blobs.ts";
import type { Started } from "./open-parts.ts";

const mib = 2 ** 20;

export interface AppRuntimeParts {
  readonly placement: Placement;
  /** Of artifacts. */
  readonly blobs: Blobs;
  readonly boxes: BoxConnections;
}

/** Nothing is opened before the first app is built or started. */
export function openAppRuntime(
  { config, dataDir, cleanup }: Started,
  { placement, blobs, boxes }: AppRuntimeParts,
): AppRuntime {
  const runtime = new LazyAppRuntime(() =>
    LocalAppRuntime.open({
      placement,
      blobs,
      folder: join(dataDir.path, "apps"),
      registry: {
        url: config.build_registry,
        token: config.build_registry_token,
        authorities: config.build_registry_ca,
        pythonIndex: config.build_python_index,
        allowedHosts: config.build_allowed_hosts,
      },
      allowScripts: config.build_allow_scripts,
      build: {
        memoryBytes: config.build_memory_mb * mib,
        diskBytes: config.build_disk_mb * mib,
        timeoutMs: config.build_timeout_seconds * 1000,
      },
      foldersBytes: config.app_folders_mb * mib,
      app: { memoryBytes: config.app_memory_mb * mib, diskBytes: config.app_disk_mb * mib },
      onApiConnection: (socket, app) => {
        boxes.accept(socket, app.deployment_id);
      },
    }),
  );
  cleanup.add("running apps", () => runtime.close());
  return runtime;
}
