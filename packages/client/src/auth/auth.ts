import type { Transport } from "@shoal/transport";
import { AuthConnections } from "./auth-connections.ts";
import { AuthContextResource } from "./auth-context.ts";

/** The caller's identity, and logins of profiles to websites. */
export class Auth {
  readonly context: AuthContextResource;
  readonly connections: AuthConnections;
  constructor(transport: Transport) {
    this.context = new AuthContextResource(transport);
    this.connections = new AuthConnections(transport);
  }
}
