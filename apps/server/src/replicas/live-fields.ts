import { text } from "node:stream/consumers";
import * as z from "zod/mini";
import type { Log } from "../log.ts";
import type { Peers } from "./peers.ts";

/** Where a server tells what only it knows of its sessions. */
export const liveFieldsPath = "/_replicas/live-fields";
/** A list is not to wait long for one server that stands still; it says less of its sessions then. */
const patienceMs = 2_000;

/** What only the server that runs a session knows of it. */
export const LiveFields = z.object({
  id: z.string(),
  /** Milliseconds since 1970; `null` while somebody uses the session. */
  idleSinceMs: z.nullable(z.number()),
  /** What its telemetry captures. */
  captured: z.array(z.string()),
});
export type LiveFields = z.output<typeof LiveFields>;

/** Asks other servers for {@link LiveFields} of sessions. */
export interface LiveFieldsReader {
  /** By session id; without those of servers that do not answer soon. */
  read(sessions: readonly { readonly id: string; readonly server_id: string }[]): Promise<ReadonlyMap<string, LiveFields>>;
}

export function createLiveFieldsReader(peers: Peers, log: Log): LiveFieldsReader {
  async function ask(serverId: string, ids: readonly string[]): Promise<LiveFields[]> {
    const answer = await peers.request(
      serverId,
      {
        method: "POST",
        path: liveFieldsPath,
        headers: { "content-type": "application/json" },
        vouched: { access: undefined, baseUrl: "", clientIp: "" },
        signal: AbortSignal.timeout(patienceMs),
      },
      JSON.stringify(ids),
    );
    const said = await text(answer);
    if (answer.statusCode !== 200) throw new Error(`It answered ${String(answer.statusCode)}.`);
    return z.array(LiveFields).parse(JSON.parse(said));
  }

  return {
    async read(sessions) {
      const byServer = Map.groupBy(sessions, ({ server_id }) => server_id);
      const found = await Promise.all(
        [...byServer].map(([serverId, rows]) =>
          ask(
            serverId,
            rows.map(({ id }) => id),
          ).catch((error: unknown) => {
            log.debug({ server_id: serverId, err: error }, "a server did not tell of its sessions");
            return [];
          }),
        ),
      );
      return new Map(found.flat().map((fields) => [fields.id, fields]));
    },
  };
}
