import type { Endpoint } from "@shoal/contract";
import type { Database } from "@shoal/database";
import { badInput, type HandlerCall, ServiceError } from "@shoal/router";
import { ErrorBody } from "@shoal/schemas";
import { sql } from "kysely";
import { text } from "node:stream/consumers";
import type { Access } from "../auth/access.ts";
import { RegionElsewhere } from "../browsers/session-errors.ts";
import type { Log } from "../log.ts";
import type { Peer } from "../service/heartbeat.ts";
import type { Peers } from "./peers.ts";
import { replicaHeader } from "./replica-trust.ts";

/** What a handler was called with, as far as another server needs it. */
type Call = Pick<HandlerCall<Endpoint, Access>, "context" | "headers" | "requestId" | "signal"> & { readonly body: unknown };

/** The regions of a service: where its servers are. */
export interface Regions {
  /**
   * Does `work`; where that is for a server of another region, has one of those do it, with the body of the request as it was checked here. A repetition of the request is
   * known by its key on this server, which also counts it and writes it down.
   *
   * @param givingUp - ends the wait for another server, because this one stops.
   * @throws {ServiceError} 400 when the request asks for a region that has no server, 503 when what it is about is in one; what the other server refuses.
   */
  answer<Result>(call: Call, work: () => Promise<Result>, givingUp?: AbortSignal): Promise<Result>;
}

/** Refusals of one server that say nothing about the next. */
const isServersOwn = ({ status }: ServiceError) => status === 503 || status === 529;

export function createRegions(parts: {
  readonly own: string;
  readonly known: ReadonlyMap<string, Peer>;
  readonly refresh: () => Promise<void>;
  readonly peers: Pick<Peers, "request">;
  readonly database: Database;
  readonly log: Log;
}): Regions {
  const { own, known, refresh, peers, log } = parts;
  const { query } = parts.database;

  const serversIn = (region: string) => [...known.values()].filter((peer) => peer.region === region).map(({ id }) => id);

  /** Those that run the fewest sessions first. */
  async function inOrder(servers: readonly string[]): Promise<string[]> {
    if (servers.length < 2) return [...servers];
    const rows = await query
      .selectFrom("sessions")
      .select(["server_id", sql<number>`count(*)::int`.as("running")])
      .where("ended_at", "is", null)
      .where("server_id", "in", servers)
      .groupBy("server_id")
      .execute();
    const running = new Map(rows.map((row) => [row.server_id, row.running]));
    return servers.toSorted((one, other) => (running.get(one) ?? 0) - (running.get(other) ?? 0));
  }

  function noServer({ region, isAsked }: RegionElsewhere): ServiceError {
    const names = [...new Set([own, ...[...known.values()].flatMap((peer) => peer.region ?? [])])].sort();
    const there = `there ${names.length === 1 ? "is" : "are"}: ${names.join(", ")}`;
    if (!isAsked)
      return new ServiceError(
        503,
        "server_unreachable",
        `No server of region ${region} runs now, where this is; ${there}. Start one with that region, or make this anew in another.`,
        { retryAfterSeconds: 2 },
      );
    return badInput(
      `body.region: this service has no server in region ${region} now; ${there}. Leave the field away for the region of the server that is asked`,
    );
  }

  async function ask(serverId: string, path: string, call: Call, signal: AbortSignal): Promise<unknown> {
    const { body, context, requestId } = call;
    const answer = await peers.request(
      serverId,
      // Without the Idempotency-Key: it is this server that holds it.
      {
        method: "POST",
        path,
        headers: { "content-type": "application/json", "x-request-id": requestId },
        vouched: { access: context, baseUrl: context.baseUrl, clientIp: "" },
        signal,
      },
      JSON.stringify(body ?? {}),
    );
    const said = await text(answer);
    const status = answer.statusCode ?? 502;
    if (status < 300) return said === "" ? undefined : JSON.parse(said);
    throw refusalOf(status, said, Number(answer.headers["retry-after"]));
  }

  async function handOver(elsewhere: RegionElsewhere, call: Call, signal: AbortSignal): Promise<unknown> {
    if (call.headers[replicaHeader] !== undefined) throw elsewhere;
    const { path, region } = elsewhere;
    // One that has just started.
    if (serversIn(region).length === 0) await refresh();
    let refusal: ServiceError | undefined;
    for (const serverId of await inOrder(serversIn(region))) {
      try {
        return await ask(serverId, path, call, signal);
      } catch (error) {
        if (!ServiceError.isInstance(error) || !isServersOwn(error)) throw error;
        log.debug({ server_id: serverId, region, err: error }, "a server of another region refused a request");
        refusal = error;
      }
    }
    throw refusal ?? noServer(elsewhere);
  }

  return {
    async answer<Result>(call: Call, work: () => Promise<Result>, givingUp?: AbortSignal): Promise<Result> {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof RegionElsewhere)) throw error;
        try {
          // The same operation on another server made it.
          return (await handOver(error, call, givingUp === undefined ? call.signal : AbortSignal.any([call.signal, givingUp]))) as Result;
        } catch (failure) {
          if (givingUp?.aborted === true && !ServiceError.isInstance(failure))
            throw new ServiceError(503, "shutting_down", "The server is stopping. Repeat the request in a moment.", { retryAfterSeconds: 2 });
          throw failure;
        }
      }
    },
  };
}

function refusalOf(status: number, said: string, retryAfterSeconds: number): ServiceError {
  let parsed: unknown;
  try {
    parsed = JSON.parse(said);
  } catch {
    // Told below.
  }
  const body = ErrorBody.safeParse(parsed);
  if (!body.success) return new ServiceError(502, "internal_error", `A server of another region answered ${String(status)} without a reason.`);
  // What the body says beside the common fields is in the original alone.
  const { code, message, details, ...fields } = parsed as ErrorBody;
  return new ServiceError(status, code, message, { fields, ...(details && { details }), ...(retryAfterSeconds >= 0 && { retryAfterSeconds }) });
}
