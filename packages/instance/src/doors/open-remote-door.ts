import { writeSync } from "node:fs";
import type { InstanceConfig } from "../protocol/protocol.ts";
import type { RemoteDoor, RemoteDoorOptions } from "./remote-door.ts";
import { waitForClosedNetwork } from "./closed-network.ts";
import { onRebirth, pinAfterRebirth } from "./rebirth.ts";
import { readServicePin } from "./service-pin.ts";

interface Listeners extends Pick<RemoteDoorOptions, "onAbandoned" | "onConnection" | "onError"> {
  /** This program is a copy, and has closed the door of its original. */
  readonly onReborn?: () => void;
}

/**
 * Loads the code for TLS and HTTP/2 only where the service is on another machine. Announces the port and the key on stdout. Before
 * it knows the key of its service, it does not listen, and waits without a limit. A pod does not listen either while it
 * reaches the API server of its cluster: some network plugins close its network after its start.
 */
export async function openRemoteDoor(
  config: Pick<InstanceConfig, "egress_path" | "instance_id" | "session_dir"> & { readonly api_path?: string },
  {
    abandoned_ms: abandonedMs,
    port,
    reborn_path: rebornPath,
    service_pin,
    service_pin_path,
  }: NonNullable<InstanceConfig["remote"]>,
  listeners: Listeners,
): Promise<RemoteDoor> {
  const reborn = rebornPath === undefined ? undefined : pinAfterRebirth(rebornPath);
  const servicePin = reborn ?? service_pin ?? (await readServicePin(service_pin_path ?? ""));
  const { createDoor } = await import("./create-door.ts");
  const door = createDoor(config.instance_id, {
    ...listeners,
    servicePin,
    sockets: { egress: config.egress_path, ...(config.api_path !== undefined && { api: config.api_path }) },
    ...(abandonedMs !== undefined && { abandonedMs }),
  });
  if (port === undefined) {
    announce({ pin: door.pin });
    const { emptyStandardStreams, serveStandardStreams } = await import("./standard-streams.ts");
    const leave = await serveStandardStreams(door, config.session_dir, listeners.onAbandoned);
    if (rebornPath !== undefined)
      onRebirth(rebornPath, () => {
        leave();
        door.close();
        void emptyStandardStreams().then(listeners.onReborn);
      });
  } else {
    await waitForClosedNetwork(addressOfCluster());
    announce({ port: await door.listen(ownAddress(), port), pin: door.pin });
  }
  return door;
}

function ownAddress(): string {
  const address = process.env.SHOAL_ADDRESS;
  if (address === undefined || address === "") throw new Error("SHOAL_ADDRESS is not set.");
  return address;
}

/** Kubernetes names its API server in the environment of all containers. */
function addressOfCluster(): { readonly host: string; readonly port: number } | undefined {
  const { KUBERNETES_SERVICE_HOST: host = "", KUBERNETES_SERVICE_PORT: port = "443" } = process.env;
  return host === "" ? undefined : { host, port: Number(port) };
}

/** Without `process.stdout`, which would make the stream block. */
function announce(place: { readonly port?: number; readonly pin: string }): void {
  writeSync(1, `${JSON.stringify({ listening: true, ...place })}\n`);
}
