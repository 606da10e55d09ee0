import { ServiceError } from "@shoal/router";

/** A session on another server: it runs there, or left its files there. */
export class Elsewhere {
  readonly sessionId: string;
  readonly serverId: string;

  constructor(sessionId: string, serverId: string) {
    this.sessionId = sessionId;
    this.serverId = serverId;
  }

  toError(why = ""): ServiceError {
    return new ServiceError(
      503,
      "server_unreachable",
      `Browser ${this.sessionId} is on another server of this installation (${this.serverId}), which is not running or not yet known here.${why === "" ? "" : ` ${why}`}`,
      { retryAfterSeconds: why === "" ? 2 : 1 },
    );
  }
}

/** A request that only a server of another region can answer. {@link Regions.answer} forwards it. */
export class RegionElsewhere {
  readonly region: string;
  readonly path: string;
  /** True if the request chose the region, which may not exist. */
  readonly isAsked: boolean;

  constructor(options: { readonly region: string; readonly path: string; readonly isAsked: boolean }) {
    this.region = options.region;
    this.path = options.path;
    this.isAsked = options.isAsked;
  }

  toError(): ServiceError {
    return new ServiceError(
      503,
      "server_unreachable",
      `Only a server in region ${this.region} can answer this request.`,
      { retryAfterSeconds: 2 },
    );
  }
}
