import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import type { Peer } from "./heartbeat.ts";

/** Addresses of this machine for other servers, which keep sessions away from them. */
export function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).flatMap(({ address, internal }) => (internal ? [] : [address])),
  );
}

/** Addresses of the other running servers; none before this server has joined them. */
export class ServerAddresses {
  #peers: ReadonlyMap<string, Peer> = new Map();

  follow(peers: ReadonlyMap<string, Peer>): void {
    this.#peers = peers;
  }

  readonly list = (): string[] => [...this.#peers.values()].flatMap(addressesOf);
}

function addressesOf({ address, addresses }: Peer): readonly string[] {
  const registered = URL.parse(address ?? "")?.hostname.replace(/^\[|\]$/g, "") ?? "";
  return isIP(registered) === 0 ? addresses : [...addresses, registered];
}
