import type { Host } from "../host/host.ts";
import { OwnRequests } from "../http/auth/own-requests.ts";
import { BoxConnections } from "../http/box-connections.ts";
import { InFlight } from "../http/in-flight.ts";
import { createRequestOrigins, type RequestOrigins } from "../http/request-origin.ts";
import { OpenSockets } from "../sessions/sockets/open-sockets.ts";

/** The connections and requests of this server. */
export class Traffic {
  readonly boxes = new BoxConnections();
  readonly inFlight: InFlight;
  readonly origins: RequestOrigins;
  readonly ownRequests = new OwnRequests();
  readonly sockets = new OpenSockets();
  /** Where this server listens. */
  readonly localUrl = (): string | undefined => this.boxes.serverUrl();

  constructor({ config, log }: Host) {
    this.inFlight = new InFlight(log);
    this.origins = createRequestOrigins({
      publicUrl: config.public_url,
      trustedProxies: config.trusted_proxies,
      headers: config.trusted_proxy_headers,
      deploymentOf: (socket) => this.boxes.deploymentOf(socket),
      localUrl: this.localUrl,
      ownRequests: this.ownRequests,
    });
  }
}
