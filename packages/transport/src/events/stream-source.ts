import type { Schema } from "@shoal/schemas";
import type { Plan, Settings } from "../request/plan.ts";
import type { StreamOptions } from "../surface/options.ts";

export interface StreamSource {
  readonly settings: Settings;
  readonly event: Schema;
  readonly options: StreamOptions;
  /** Prepares a connection that resumes after the given event. */
  plan(lastEventId: string | undefined, options: { signal: AbortSignal; maxRetries?: number }): Promise<Plan>;
  /** Returns the source to read instead if the first connection fails. */
  otherwise?(error: unknown): StreamSource | undefined;
}
