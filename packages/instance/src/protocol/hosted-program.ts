import type { InstanceConfig } from "./protocol.ts";
import * as z from "zod/mini";

/**
 * The settings of the instance program when it hosts a program of an app on another machine: the environment variable
 * `SHOAL_PROGRAM`, in place of `SHOAL_INSTANCE`. Connections of the service are HTTP/1.1:
 *
 * - `PUT /files?to=PATH&as=folder|archive|file` copies a tar archive, one with gzip or zstd, or one file.
 * - `POST /start` with {@link StartHosted}, once.
 * - `GET /stdout`, `GET /stderr`: what the program prints, until its end.
 * - `GET /exit` waits for {@link HostedExit}. The host then waits for its own end.
 * - An upgrade of `/channel`: the bytes of the connection that the program opens to `channel_path`.
 */
export interface HostedProgramConfig extends Pick<InstanceConfig, "egress_path" | "instance_id" | "session_dir"> {
  readonly remote: NonNullable<InstanceConfig["remote"]>;
  /** Unix sockets: connections to the API of the service; the channel, which accepts one connection. */
  readonly api_path: string;
  readonly channel_path: string;
}

export interface StartHosted {
  /** Of this Node. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly folder: string;
}

export interface HostedExit extends z.output<typeof HostedExit> {}
export const HostedExit = z.object({ code: z.nullable(z.int()), signal: z.nullable(z.string()) });
