import type { Placement } from "@shoal/placement";
import { join } from "node:path";
import type { Host } from "../host/host.ts";
import type { BoxConnections } from "../http/box-connections.ts";
import type { SdkPackages } from "./registry/sdk-packages.ts";
import type { AppRuntime } from "./runtime/app-runtime.ts";
import { LazyAppRuntime } from "./runtime/lazy-app-runtime.ts";
import { LocalAppRuntime } from "./runtime/local-app-runtime.ts";

const mib = 2 ** 20;

/** Opens nothing before the first app is built or started. */
export function appRuntimeOnUse(
  { blobs, cleanup, config, dataDir }: Host,
  {
    boxes,
    placement,
    sdk,
  }: { readonly boxes: BoxConnections; readonly placement: Placement; readonly sdk: SdkPackages },
): AppRuntime {
  const runtime = new LazyAppRuntime(() =>
    LocalAppRuntime.open({
      placement,
      blobs: blobs("deployments"),
      folder: join(dataDir.path, "apps"),
      registry: {
        url: config.build_registry,
        token: config.build_registry_token,
        authorities: config.build_registry_ca,
        pythonIndex: config.build_python_index,
        allowedHosts: config.build_allowed_hosts,
      },
      sdk,
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
      outerUrl: () => (config.public_url ?? boxes.serverUrl())?.replace(/(?<!\/)\/+$/, ""),
    }),
  );
  cleanup.add("running apps", () => runtime.close());
  return runtime;
}
