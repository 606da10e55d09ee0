import { isIP } from "node:net";
import type { Peer } from "./heartbeat.ts";

/** Addresses of the other running servers, none before this server has joined them, and addresses that the operator names. */
export class ServerAddresses {
  readonly #own: readonly string[];
  #peers: ReadonlyMap<string, Peer> = new Map();

  /** @param own - the setting `own_addresses`. */
  constructor(own: readonly string[] = []) {
    this.#own = own;
  }

  follow(peers: ReadonlyMap<string, Peer>): void {
    this.#peers = peers;
  }

  readonly list = (): string[] => [...this.#own, ...[...this.#peers.values()].flatMap(addressesOf)];
}

function addressesOf({ address, addresses }: Peer): readonly string[] {
  const registered = URL.parse(address ?? "")?.hostname.replace(/^\[|\]$/g, "") ?? "";
  return isIP(registered) === 0 ? addresses : [...addresses, registered];
}
