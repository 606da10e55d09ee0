import type { OperationsOf } from "@shoal/contract";
import { noLastPicture } from "@shoal/contract/refusals";
import { type Handlers, ServiceError } from "@shoal/router";
import { Readable } from "node:stream";
import type { Access } from "../../http/auth/access.ts";
import type { TelemetryStore } from "./telemetry-store.ts";

export interface SessionFinder {
  idHere(projectId: string | undefined, idOrName: string, kind: "telemetry"): Promise<string>;
}

export function telemetryHandlers(
  sessions: SessionFinder,
  store: TelemetryStore,
): Handlers<Omit<OperationsOf<"browsers.telemetry">, "streamTelemetry">, Access> {
  return {
    listTelemetryEvents: async ({ params, query, context, signal }) =>
      store.list(await sessions.idHere(context.projectId, params.id, "telemetry"), query, {
        projectId: context.projectId,
        signal,
      }),
    async readLastPicture({ params, context: { projectId }, signal }) {
      const sessionId = await sessions.idHere(projectId, params.id, "telemetry");
      const picture = await store.lastPicture(sessionId, { projectId, signal });
      if (picture === undefined) throw ServiceError.of(noLastPicture(sessionId));
      return { stream: Readable.from([picture]), sizeBytes: picture.length };
    },
  };
}
