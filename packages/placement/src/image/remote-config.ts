import type { HostedProgramConfig, InstanceConfig } from "@shoal/instance";
import type { Viewport } from "../boxes/box.ts";
import { homePath } from "../boxes/instance-files.ts";
import type { ImageContents } from "./image-contents.ts";

export interface RemoteConfigOptions {
  readonly id: string;
  readonly viewport: Viewport;
  readonly contents: ImageContents;
  readonly remote: NonNullable<InstanceConfig["remote"]>;
}

/** A writable folder of the container. */
export const stateFolder = "/run/shoal-state";
/** Sockets of a hosted program. */
export const hostedSockets = {
  egress: `${stateFolder}/egress.sock`,
  api: `${stateFolder}/api.sock`,
  channel: `${stateFolder}/channel.sock`,
} as const;
/** Bytes of the program that hosts another one, in addition to the memory of that one. */
export const hostBytes = 128 * 2 ** 20;

/** The settings of an instance that runs in a container or pod of another machine. */
export function remoteConfig({ contents, id, remote, viewport }: RemoteConfigOptions): InstanceConfig {
  const { chromium, full, innerSandbox: inner_sandbox, node } = contents;
  return {
    instance_id: id,
    remote,
    egress_path: hostedSockets.egress,
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

/** The settings of an instance program that hosts a program of an app. */
export function hostedConfig({ id, remote }: Pick<RemoteConfigOptions, "id" | "remote">): HostedProgramConfig {
  return {
    instance_id: id,
    remote,
    egress_path: hostedSockets.egress,
    api_path: hostedSockets.api,
    channel_path: hostedSockets.channel,
    session_dir: stateFolder,
  };
}
