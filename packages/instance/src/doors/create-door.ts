import { TlsIdentity } from "@shoal/primitives/pinned-tls";
import { freshBytes } from "../system/fresh-bytes.ts";
import { RemoteDoor, type RemoteDoorOptions } from "./remote-door.ts";

/** With a key that this process has just made: of bytes of the kernel, because copies of a process make equal ones. */
export function createDoor(name: string, options: Omit<RemoteDoorOptions, "identity">): RemoteDoor {
  return new RemoteDoor({ ...options, identity: new TlsIdentity(name, undefined, freshBytes(32)) });
}
