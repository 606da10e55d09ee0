import { badInput, ServiceError } from "@shoal/router";
import type { CreateBrowser } from "@shoal/schemas";
import { maxViewportPixels } from "@shoal/schemas/viewport-limits";
import type * as z from "zod/mini";
import { isStorable } from "../paging.ts";
import type { SessionRow } from "./session-store.ts";

export function notFound(idOrName: string): ServiceError {
  return new ServiceError(
    404,
    "not_found",
    `Browser ${idOrName} was not found among the running sessions of this project. It may have ended; list them with browsers.list, ended ones with status=all.`,
  );
}

const endings: Readonly<Record<string, string>> = {
  deleted: "it was deleted",
  timeout: "nobody used it for its timeout_seconds",
  max_duration: "its max_duration_seconds were over",
  browser_crashed: "its browser crashed twice",
  instance_lost: "its instance was lost",
  server_stopped: "the server was stopped",
};

export function hasEnded(id: string, reason: string | null, at: string | null): ServiceError {
  const because = reason === null ? "" : ` (${reason}): ${endings[reason] ?? reason}`;
  return new ServiceError(
    404,
    "not_found",
    `Browser ${id} has ended${at === null ? "" : ` at ${at}`}${because}. Create a new session with browsers.create.`,
  );
}

/** Whether an instance that runs had no room for another connection. */
export function isBusy(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ("code" in error && error.code === "EAGAIN") || isBusy(error.cause);
}

/** What a request to an instance fails with that got no answer. An error that says why stays as it is. @param id - of its session, where that is known. */
export function noAnswer(cause: unknown, id?: string): ServiceError {
  if (ServiceError.isInstance(cause)) return cause;
  const whose = id === undefined ? "this browser" : `browser ${id}`;
  if (isBusy(cause))
    return new ServiceError(
      503,
      "overloaded",
      `The instance of ${whose} has more requests to take than it can. Send fewer at once, and repeat this one.`,
      {
        retryAfterSeconds: 1,
        cause,
      },
    );
  return new ServiceError(
    503,
    "browser_not_running",
    `The instance of ${whose} did not answer. Look at the session with browsers.get, include_deleted=true, and repeat the request if it still runs.`,
    { cause },
  );
}

export function isSeen({ pool_state }: SessionRow): boolean {
  return pool_state === null || pool_state === "leased";
}

/** Limits of Chromium and PostgreSQL rather than of the wire, so the contract does not know them. */
export function refuseImpossible({ viewport, start_url }: Pick<z.output<typeof CreateBrowser>, "viewport" | "start_url">): void {
  let problem: string | undefined;
  if (viewport !== undefined && viewport.width > maxViewportPixels) problem = `body.viewport.width: expected at most ${String(maxViewportPixels)}`;
  else if (viewport !== undefined && viewport.height > maxViewportPixels)
    problem = `body.viewport.height: expected at most ${String(maxViewportPixels)}`;
  else if (!isStorable(start_url)) problem = "body.start_url: must not hold a NUL character";
  if (problem !== undefined) throw badInput(problem);
}

export function nameTaken(name: string): ServiceError {
  return new ServiceError(
    409,
    "name_taken",
    `A running session of this project is named ${name} already. Choose another name, or delete that session.`,
  );
}

/** What only a server of another region can answer. Whoever can hands the request over to one. */
export class RegionElsewhere extends ServiceError {
  readonly region: string;
  /** What is asked of the other server: a POST with the body of the request. */
  readonly path: string;
  /** The request's own choice, which may be no region at all; `false` = what it is about is there. */
  readonly isAsked: boolean;

  constructor({ region, path, isAsked }: { readonly region: string; readonly path: string; readonly isAsked: boolean }) {
    super(503, "server_unreachable", `This is for a server in region ${region}, and the one that was asked is in another.`, { retryAfterSeconds: 2 });
    this.region = region;
    this.path = path;
    this.isAsked = isAsked;
  }
}

/** A session that another server has: it runs there, or what it left is there. Whoever can hands the request over to that server. */
export class SessionElsewhere extends ServiceError {
  readonly serverId: string;

  constructor({ id, server_id }: Pick<SessionRow, "id" | "server_id">) {
    super(
      503,
      "server_unreachable",
      `Browser ${id} is on another server of this installation (${server_id}), which does not run now, or is not known to this one yet.`,
      { retryAfterSeconds: 2 },
    );
    this.serverId = server_id;
  }
}
