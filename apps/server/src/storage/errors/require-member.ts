import { ServiceError } from "@shoal/router";

export interface Membership {
  readonly isClosed: boolean;
  /** True while the other servers may have declared this server dead. */
  readonly isDoubtful: boolean;
}

/** Refuses new work of a server that stops or may be declared dead. @param work - plural: `logins`. */
export function requireMember(work: string, { isClosed, isDoubtful }: Membership): void {
  if (isClosed)
    throw new ServiceError(503, "shutting_down", `The server is stopping and starts no new ${work}.`, {
      retryAfterSeconds: 5,
    });
  if (isDoubtful)
    throw new ServiceError(
      503,
      "server_unreachable",
      "This server was paused for some seconds and is checking whether it is still a member.",
      { hint: "Repeat the request in a moment.", retryAfterSeconds: 1 },
    );
}
