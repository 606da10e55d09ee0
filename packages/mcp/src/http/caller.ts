import type { Endpoint } from "@shoal/contract";
import type { Transport } from "@shoal/transport";
import type { McpSettings } from "../server/settings.ts";

/** The authenticated caller of one HTTP request. */
export interface Caller {
  readonly keyId: string;
  readonly projectId: string;
  /** A connection serves callers with the same rights alone. */
  readonly rights?: string;
  /** Returns a transport with the caller's key. Called for new connections only. */
  readonly connect: () => Transport;
  readonly settings: McpSettings;
  /** Whether the caller has the right to an operation, on some object at least. */
  readonly mayCall: (operation: Endpoint) => boolean;
}
