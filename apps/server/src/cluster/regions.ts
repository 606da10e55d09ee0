import { regionUnavailable } from "@shoal/contract/refusals";
import type { Endpoint } from "@shoal/contract";
import type { Database } from "@shoal/database";
import { anySignal } from "@shoal/primitives";
import { type HandlerCall, ServiceError } from "@shoal/router";
import { ErrorBody } from "@shoal/schemas";
import { sql } from "kysely";
import { text } from "node:stream/consumers";
import type { Access } from "../http/auth/access.ts";
import { type Elsewhere, RegionElsewhere } from "./elsewhere.ts";
import type { Log } from "../log/log.ts";
import type { Peer } from "./heartbeat.ts";
import type { Peers } from "./peers.ts";
import { replicaHeader } from "../http/relay.ts";

type Call = Pick<HandlerCall<Endpoint, Access>, "context" | "headers" | "requestId" | "signal"> & {
  readonly body: unknown;
};

/** After these errors, another server of the region is tried. */
const isServersOwn = ({ status }: ServiceError) => status === 503 || status === 529;

export class Regions {
  /** The region of this server. */
  readonly own: string;
  readonly #known: ReadonlyMap<string, Peer>;
  readonly #refresh: () => Promise<void>;
  readonly #peers: Pick<Peers, "request">;
  readonly #log: Log;
  readonly #query: import("kysely").Kysely<import("@shoal/database").Tables>;

  constructor(parts: {
    readonly own: string;
    readonly known: ReadonlyMap<string, Peer>;
    readonly refresh: () => Promise<void>;
    readonly peers: Pick<Peers, "request">;
    readonly database: Database;
    readonly log: Log;
  }) {
    const { own, known, refresh, peers, log } = parts;
    this.own = own;
    this.#known = known;
    this.#refresh = refresh;
    this.#peers = peers;
    this.#log = log;
    const { query } = parts.database;
    this.#query = query;
  }

  /** The regions with a server, by name. */
  get names(): string[] {
    return [...new Set([this.own, ...[...this.#known.values()].flatMap((peer) => peer.region ?? [])])].sort();
  }

  /**
   * If `work` returns a {@link RegionElsewhere}, forwards the validated body to a server of that region. This server
   * handles the Idempotency-Key, counts the request and logs it.
   * @param givingUp - aborts the wait when this server stops.
   * @throws {ServiceError} 400 when the requested region has no server; 503 when that of an existing resource has none.
   */
  async answer<Result>(
    call: Call,
    work: () => Promise<Result | RegionElsewhere>,
    givingUp?: AbortSignal,
  ): Promise<Result> {
    const result = await work();
    if (!(result instanceof RegionElsewhere)) return result;
    const signal = givingUp === undefined ? call.signal : anySignal([call.signal, givingUp]);
    try {
      // The same operation on another server produced this answer.
      return (await this.#handOver(result, call, signal)) as Result;
    } catch (failure) {
      if (givingUp?.aborted === true && !ServiceError.isInstance(failure))
        throw new ServiceError(503, "shutting_down", "The server is stopping.", {
          hint: "Retry in a moment.",
          retryAfterSeconds: 2,
        });
      throw failure;
    }
  }

  /**
   * Forwards the validated body to the server that has a session, for an operation whose body names the session.
   * @throws {ServiceError} 503 when that server does not answer, or another server forwarded the request.
   */
  async ofSession(elsewhere: Elsewhere, path: string, call: Call): Promise<unknown> {
    if (call.headers[replicaHeader] !== undefined)
      throw elsewhere.toError(
        "Another server forwarded this request, but the session is not here. Repeat the request.",
      );
    return this.#ask(elsewhere.serverId, path, call, call.signal);
  }

  /** Whether another server of this region runs. */
  get hasOthers(): boolean {
    return this.#serversIn(this.own).length > 0;
  }

  #serversIn(region: string) {
    return [...this.#known.values()].filter((peer) => peer.region === region).map(({ id }) => id);
  }

  async #inOrder(servers: readonly string[]): Promise<string[]> {
    if (servers.length < 2) return [...servers];
    const rows = await this.#query
      .selectFrom("sessions")
      .select(["server_id", sql<number>`count(*)::int`.as("running")])
      .where("ended_at", "is", null)
      .where("server_id", "in", servers)
      .groupBy("server_id")
      .execute();
    const running = new Map(rows.map((row) => [row.server_id, row.running]));
    return servers.toSorted((one, other) => (running.get(one) ?? 0) - (running.get(other) ?? 0));
  }

  #noServer({ region, isAsked }: RegionElsewhere): ServiceError {
    const { names } = this;
    if (!isAsked)
      return new ServiceError(
        503,
        "server_unreachable",
        `Region ${region} has no running server; regions with a server: ${names.join(", ")}.`,
        { retryAfterSeconds: 2, hint: "Start a server in that region, or create the resource in another region." },
      );
    return ServiceError.of(regionUnavailable(region, names));
  }

  async #ask(serverId: string, path: string, call: Call, signal: AbortSignal): Promise<unknown> {
    const { body, context, requestId } = call;
    const answer = await this.#peers.request(
      serverId,
      // Without the Idempotency-Key, which this server handles.
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

  async #handOver(elsewhere: RegionElsewhere, call: Call, signal: AbortSignal): Promise<unknown> {
    if (call.headers[replicaHeader] !== undefined) throw elsewhere.toError();
    const { path, region } = elsewhere;
    if (this.#serversIn(region).length === 0) await this.#refresh();
    let refusal: ServiceError | undefined;
    for (const serverId of await this.#inOrder(this.#serversIn(region))) {
      try {
        return await this.#ask(serverId, path, call, signal);
      } catch (error) {
        if (!ServiceError.isInstance(error) || !isServersOwn(error)) throw error;
        this.#log.debug({ server_id: serverId, region, err: error }, "another server rejected a request");
        refusal = error;
      }
    }
    throw refusal ?? this.#noServer(elsewhere);
  }
}

function refusalOf(status: number, said: string, retryAfterSeconds: number): ServiceError {
  let parsed: unknown;
  try {
    parsed = JSON.parse(said);
  } catch {
    // Reported below.
  }
  const body = ErrorBody.safeParse(parsed);
  if (!body.success)
    return new ServiceError(502, "internal_error", `Another server answered ${String(status)} without a reason.`);
  // Additional fields exist only in the original body.
  const { code, message, details, ...fields } = parsed as ErrorBody;
  return new ServiceError(status, code, message, {
    fields,
    ...(details && { details }),
    ...(retryAfterSeconds >= 0 && { retryAfterSeconds }),
  });
}
