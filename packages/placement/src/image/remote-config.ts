import type { InstanceConfig } from "@shoal/instance";
import type { Viewport } from "../boxes/box.ts";
import { homePath } from "../boxes/instance-files.ts";
import type { ImageContents } from "./image-contents.ts";

export interface RemoteConfigOptions {
  readonly id: string;
  readonly viewport: Viewport;
  readonly contents: ImageContents;
  readonly remote: NonNullable<InstanceConfig["remote"]>;
  /** A writable folder of the container. */
  readonly stateFolder: string;
}

/** The settings of an instance that runs in a container or pod of another machine. */
export function remoteConfig({ contents, id, remote, stateFolder, viewport }: RemoteConfigOptions): InstanceConfig {
  const { chromium, full, innerSandbox: inner_sandbox, node } = contents;
  return {
    instance_id: id,
    remote,
    egress_path: `${stateFolder}/egress.sock`,
    root: "/",
    home: homePath,
    session_dir: stateFolder,
    chromium: {
      ...chromium,
      inner_sandbox,
      ...(full !== undefined && { full: { executable: full, inner_sandbox } }),
    },
    viewport,
    node,
  };
}
