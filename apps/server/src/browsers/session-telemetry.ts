import type { Instance } from "@shoal/placement";
import type { UpdateBrowser } from "@shoal/schemas";
import type * as z from "zod/mini";
import { namesOf, selectCategories } from "../telemetry/categories.ts";
import type { TelemetryStore } from "../telemetry/telemetry-store.ts";
import type { TelemetryDestinations } from "../telemetry-destinations/destinations.ts";
import { chooseDestination, explainDestination } from "../telemetry-export/choice.ts";
import type { TelemetryExports } from "../telemetry-export/exports.ts";
import type { PooledRequest, RunningSession } from "./running-session.ts";
import { hasEnded, SessionElsewhere } from "./session-errors.ts";
import type { SessionRow, SessionStore } from "./session-store.ts";

/** An instance gathers events for less than that before they go to the service. */
const lastEventsMs = 500;

interface SessionTelemetryParts {
  readonly sessions: ReadonlyMap<string, RunningSession>;
  readonly store: Pick<SessionStore, "setTelemetryDestination">;
  readonly telemetry: TelemetryStore;
  readonly destinations: Pick<TelemetryDestinations, "choose">;
  readonly exports: Pick<TelemetryExports, "open">;
  /** @throws {ServiceError} 409 where it has none. */
  readonly instanceHere: (session: RunningSession) => Instance;
}

/** What is captured of the sessions of this server, and where it is sent. */
export function createSessionTelemetry({ sessions, store, telemetry, destinations, exports, instanceHere }: SessionTelemetryParts) {
  const destinationFor = (projectId: string, request: PooledRequest["telemetry"], current: string | null) =>
    chooseDestination(destinations, projectId, request, current);

  /** Begins to send what is captured to where the session's row says. */
  function send(session: RunningSession): void {
    const { collector, row } = session;
    session.exporting =
      collector === undefined || row.telemetry_destination_id === null
        ? undefined
        : exports.open(row.telemetry_destination_id, collector, () => session.row);
  }

  /** Sends it to another destination, or nowhere, from now on. */
  async function redirect(session: RunningSession, to: string | null, isOff: boolean): Promise<void> {
    const { id } = session.row;
    const isThere = await store.setTelemetryDestination(id, to).catch((error: unknown) => {
      throw explainDestination(error);
    });
    if (!isThere || session.ending !== undefined) throw hasEnded(id, session.ending?.reason ?? null, session.ending?.at ?? null);
    const { exporting } = session;
    session.row = { ...session.row, telemetry_destination_id: to };
    // Nothing new is captured when all is off, but the last of it may be on its way from the instance.
    if (isOff) setTimeout(() => exporting?.finish(), lastEventsMs).unref();
    else exporting?.finish();
    send(session);
  }

  /** One change follows the other. */
  function inTurn<Result>(session: RunningSession, work: () => Promise<Result>): Promise<Result> {
    const changed = session.switching.then(work);
    session.switching = changed.catch(() => undefined);
    return changed;
  }

  /** Captures what an update asks for, from its answer on, and sends it to where it asks. @returns does it as before. */
  async function change(row: SessionRow, request: z.output<typeof UpdateBrowser>["telemetry"]): Promise<() => Promise<void>> {
    const session = sessions.get(row.id);
    if (session === undefined) throw new SessionElsewhere(row);
    const instance = instanceHere(session);
    return inTurn(session, async () => {
      const wanted = selectCategories(request, session.captured);
      const { captured } = session;
      const isOther = wanted !== captured;
      const { telemetry_destination_id: before } = session.row;
      const to = await destinationFor(row.project_id, request, before);
      if (isOther) session.collector ??= telemetry.collect(row.id, instance);
      if (to !== before) await redirect(session, to, wanted === undefined);
      else if (session.exporting === undefined) send(session);
      const select = async (categories: typeof wanted): Promise<void> => {
        if (!isOther) return;
        await session.collector?.select(namesOf(categories));
        session.captured = categories;
      };
      const undo = () =>
        inTurn(session, async () => {
          if (to !== before) await redirect(session, before, captured === undefined);
          await select(captured);
        });
      await select(wanted).catch(async (error: unknown) => {
        if (to !== before) await redirect(session, before, captured === undefined);
        throw error;
      });
      return undo;
    });
  }

  return { destinationFor, send, change };
}
