import type { TestService } from "../testing/service.ts";

const metricsToken = "metrics-token-for-tests";

/** Flags of a service whose connections `openConnections` counts. */
export const metricsFlags: readonly string[] = ["--metrics-token", metricsToken];

export interface OpenConnections {
  readonly event_streams: number;
  readonly websockets: number;
}

/** Event streams and WebSockets that clients have open. */
export async function openConnections({ service }: TestService): Promise<OpenConnections> {
  const answer = await fetch(`${service.baseUrl}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } });
  const text = await answer.text();
  const read = (name: string) => Number(new RegExp(`^shoal_${name} (\\d+)$`, "m").exec(text)?.[1]);
  return { event_streams: read("event_streams"), websockets: read("websockets") };
}
