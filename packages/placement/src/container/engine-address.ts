import { messageOf } from "@shoal/primitives";
import { PlacementError } from "../interface/placement-error.ts";
import { readFile } from "node:fs/promises";
import type { RequestOptions } from "node:https";
import { join } from "node:path";

export interface EngineAddress {
  /** As the user wrote it. */
  readonly name: string;
  readonly connection: RequestOptions;
  readonly tls: boolean;
  /** On another machine, or reached like one. */
  readonly isRemote: boolean;
}

const defaultPort = "2376";

/**
 * @param tlsDir - folder with `ca.pem`, `cert.pem` and `key.pem`, for engines on other machines.
 * @throws {PlacementError} `bad_option`.
 */
export async function engineAddress(host: string, tlsDir: string | undefined): Promise<EngineAddress> {
  const socketPath = /^unix:\/\/(\/.+)$/.exec(host)?.[1];
  if (socketPath !== undefined) return { name: host, connection: { socketPath }, tls: false, isRemote: false };
  const url = URL.parse(host);
  if (url?.protocol !== "tcp:" || url.hostname === "" || (url.pathname !== "" && url.pathname !== "/"))
    throw new PlacementError(
      "bad_option",
      `docker_host: must be a socket such as unix:///var/run/docker.sock, or the address of an engine with TLS such as tcp://10.0.0.5:2376, not ${host}.`,
    );
  if (tlsDir === undefined)
    throw new PlacementError(
      "bad_option",
      `docker_host: ${host} needs docker_tls_dir, the folder with ca.pem, cert.pem and key.pem of a client. Without them, the whole network would be root on its machine.`,
    );
  const { hostname, port } = url;
  const credentials = await readCredentials(tlsDir);
  const connection = { host: hostname.replace(/^\[|\]$/g, ""), port: port || defaultPort, ...credentials };
  return { name: host, connection, tls: true, isRemote: true };
}

async function readCredentials(folder: string): Promise<{ ca: Buffer; cert: Buffer; key: Buffer }> {
  const read = (name: string) => readFile(join(folder, name));
  try {
    // The names of the Docker client for `DOCKER_CERT_PATH`.
    const [ca, cert, key] = await Promise.all([read("ca.pem"), read("cert.pem"), read("key.pem")]);
    return { ca, cert, key };
  } catch (error) {
    throw new PlacementError("bad_option", `docker_tls_dir: ${messageOf(error)}`, { cause: error });
  }
}
