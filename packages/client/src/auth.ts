import type { Transport } from "@shoal/transport";
import { AuthConnections } from "./auth-connections.ts";
import { AuthContextResource } from "./auth-context.ts";

/** Who calls, and what profiles are signed in to. */
export class Auth {
  /** Who the key is. */
  readonly context: AuthContextResource;
  /** Logins to websites that are kept. */
  readonly connections: AuthConnections;
  constructor(transport: Transport) {
    this.context = new AuthContextResource(transport);
    this.connections = new AuthConnections(transport);
  }
}
