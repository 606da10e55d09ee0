import { TlsIdentity } from "@shoal/primitives/pinned-tls";
import { RemoteDoor, type RemoteDoorOptions } from "./remote-door.ts";

/** With a key that this process has just made. */
export function createDoor(name: string, options: Omit<RemoteDoorOptions, "identity">): RemoteDoor {
  return new RemoteDoor({ ...options, identity: new TlsIdentity(name) });
}
