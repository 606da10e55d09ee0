import type { InstanceConfig } from "../protocol/protocol.ts";
import type { RemoteDoor, RemoteDoorOptions } from "./remote-door.ts";

/** Loads the code for TLS only where the service is on another machine. Announces the port and the key on stdout. */
export async function openRemoteDoor(
  config: Pick<InstanceConfig, "egress_path" | "instance_id">,
  { abandoned_ms: abandonedMs, port, service_pin: servicePin }: NonNullable<InstanceConfig["remote"]>,
  listeners: Pick<RemoteDoorOptions, "onAbandoned" | "onConnection" | "onError">,
): Promise<RemoteDoor> {
  const { createDoor } = await import("./create-door.ts");
  const address = process.env.SHOAL_ADDRESS;
  if (address === undefined || address === "") throw new Error("SHOAL_ADDRESS is not set.");
  const door = createDoor(config.instance_id, {
    ...listeners,
    address,
    port,
    servicePin,
    egressPath: config.egress_path,
    onListening: (announcement) => {
      process.stdout.write(`${JSON.stringify({ listening: true, ...announcement })}\n`);
    },
    ...(abandonedMs !== undefined && { abandonedMs }),
  });
  door.listen();
  return door;
}
