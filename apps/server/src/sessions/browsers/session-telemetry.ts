import type { Instance } from "@shoal/placement";
import { KeyedMutex } from "@shoal/primitives";
import type { UpdateBrowser } from "@shoal/schemas";
import type * as z from "zod/mini";
import { Elsewhere } from "../../cluster/elsewhere.ts";
import type { TelemetryDestinations } from "../../resources/telemetry-destinations/destinations.ts";
import { type CapturedCategories, namesOf, selectCategories } from "../telemetry/categories.ts";
import { chooseDestination, explainDestination } from "../telemetry/export/choice.ts";
import type { TelemetryExports } from "../telemetry/export/exports.ts";
import type { TelemetryStore } from "../telemetry/telemetry-store.ts";
import type { RunningSession } from "./running-session.ts";
import { hasEnded } from "./session-errors.ts";
import type { SessionRunner } from "./session-runner.ts";
import type { SessionRow, SessionStore } from "./session-store.ts";

/** Longer than an instance buffers events. */
const lastEventsMs = 500;

export interface SessionTelemetryParts {
  readonly runner: Pick<SessionRunner, "instanceOf" | "sessions">;
  readonly store: Pick<SessionStore, "setTelemetryDestination">;
  readonly telemetry: TelemetryStore;
  readonly destinations: Pick<TelemetryDestinations, "choose">;
  readonly exports: Pick<TelemetryExports, "open">;
}

export class SessionTelemetry {
  readonly #parts: SessionTelemetryParts;
  readonly #changing = new KeyedMutex<string>();

  constructor(parts: SessionTelemetryParts) {
    this.#parts = parts;
  }

  send(session: RunningSession): void {
    const { collector, row } = session;
    session.exporting =
      collector === undefined || row.telemetry_destination_id === null
        ? undefined
        : this.#parts.exports.open(row.telemetry_destination_id, collector, () => session.row);
  }

  /** Applies the telemetry fields of an update. @returns a function that reverts the change. */
  async change(row: SessionRow, request: z.output<typeof UpdateBrowser>["telemetry"]): Promise<() => Promise<void>> {
    const session = this.#parts.runner.sessions.get(row.id);
    if (session === undefined) throw new Elsewhere(row.id, row.server_id).toError();
    const instance = this.#parts.runner.instanceOf(session);
    return this.#changing.run(row.id, () => this.#apply(session, instance, request));
  }

  async #apply(
    session: RunningSession,
    instance: Instance,
    request: z.output<typeof UpdateBrowser>["telemetry"],
  ): Promise<() => Promise<void>> {
    const { captured, row } = session;
    const before = row.telemetry_destination_id;
    const wanted = selectCategories(request, captured);
    const to = await chooseDestination(this.#parts.destinations, row.project_id, request, before);
    if (wanted !== captured) session.collector ??= this.#parts.telemetry.collect(row.id, instance);
    if (to !== before) await this.#redirect(session, to, wanted === undefined);
    else if (session.exporting === undefined) this.send(session);
    const select = async (categories: CapturedCategories | undefined): Promise<void> => {
      if (wanted === captured) return;
      await session.collector?.select(namesOf(categories));
      session.captured = categories;
    };
    const redirectBack = async (): Promise<void> => {
      if (to !== before) await this.#redirect(session, before, captured === undefined);
    };
    await select(wanted).catch(async (error: unknown) => {
      await redirectBack();
      throw error;
    });
    return () =>
      this.#changing.run(row.id, async () => {
        await redirectBack();
        await select(captured);
      });
  }

  async #redirect(session: RunningSession, to: string | null, isOff: boolean): Promise<void> {
    const { id } = session.row;
    const isThere = await this.#parts.store.setTelemetryDestination(id, to).catch((error: unknown) => {
      throw explainDestination(error);
    });
    if (!isThere || session.ending !== undefined)
      throw hasEnded(id, session.ending?.reason ?? null, session.ending?.at ?? null);
    const { exporting } = session;
    session.row = { ...session.row, telemetry_destination_id: to };
    // After capture is switched off, the last events may still be on their way from the instance.
    if (isOff) setTimeout(() => exporting?.finish(), lastEventsMs).unref();
    else exporting?.finish();
    this.send(session);
  }
}
