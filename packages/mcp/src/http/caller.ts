import type { Transport } from "@shoal/transport";
import type { McpSettings } from "../server/settings.ts";

/** The authenticated caller of one HTTP request. */
export interface Caller {
  readonly keyId: string;
  readonly projectId: string;
  /** Has the caller's key. */
  readonly transport: Transport;
  readonly settings: McpSettings;
}
