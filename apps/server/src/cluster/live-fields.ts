import { text } from "node:stream/consumers";
import * as z from "zod/mini";
import type { Log } from "../log/log.ts";
import type { Peers } from "./peers.ts";

export const liveFieldsPath = "/_replicas/live-fields";
/** Afterwards a list omits the live fields of that server's sessions. */
const patienceMs = 2_000;

export const LiveFields = z.object({
  id: z.string(),
  /** Milliseconds since 1970; `null` while the session is in use. */
  idleSinceMs: z.nullable(z.number()),
  captured: z.array(z.string()),
  pageUrl: z.optional(z.string()),
  asleepSinceMs: z.optional(z.number()),
});
export type LiveFields = z.output<typeof LiveFields>;

export interface LiveFieldsSource {
  liveFields(ids: readonly string[]): LiveFields[];
}

export interface LiveFieldsReader {
  /** By session id; without sessions of servers that do not answer in time. */
  read(
    sessions: readonly { readonly id: string; readonly server_id: string }[],
  ): Promise<ReadonlyMap<string, LiveFields>>;
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
            log.debug({ server_id: serverId, err: error }, "a server did not return the live fields of its sessions");
            return [];
          }),
        ),
      );
      return new Map(found.flat().map((fields) => [fields.id, fields]));
    },
  };
}
