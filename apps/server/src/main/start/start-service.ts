import type { FastifyInstance } from "fastify";
import type { Host } from "../../host/host.ts";
import { createApp } from "../app.ts";
import { type OpenedFeatures, openFeatures } from "../features.ts";
import type { StartOptions } from "../running-server.ts";
import { followChanges, startSweeps } from "./regular-work.ts";
import { type Started, startHost } from "./start-host.ts";

/** Milliseconds for the answers to calls whose sessions end with the server. */
const lastAnswersMs = 1_000;

export interface Service extends OpenedFeatures {
  readonly app: FastifyInstance;
  readonly host: Host;
}

/** Opens every feature and the HTTP server, which does not listen yet. @throws {StartError} */
export async function startService(started: Started, options: StartOptions): Promise<Service> {
  const startedHost = await startHost(started, options);
  const { host } = startedHost;
  const opened = await openFeatures(started, startedHost, options);
  const { all, features, traffic } = opened;
  followChanges(host, all);
  for (const { help, name, read } of all.flatMap((feature) => feature.gauges ?? []))
    features.observability.provides.gauge(name, help, read);
  const app = createApp(host, opened);
  startSweeps(host, all);
  host.cleanup.add("the HTTP server", async () => {
    for (const feature of all.toReversed()) await feature.stop?.();
    // Calls of the sessions that ended just now receive their answers; the next steps cut connections.
    await traffic.inFlight.settle(lastAnswersMs);
    traffic.sockets.close();
    await app.close();
  });
  return { ...opened, app, host };
}
