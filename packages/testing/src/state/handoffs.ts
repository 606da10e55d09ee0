import type { Handoff } from "@shoal/schemas";
import type { SessionRow, Store } from "./store.ts";
import { recordEvent } from "./webhooks.ts";

/** Ends the handoff of a session, as the person or the service would. @returns `undefined` without an active one. */
export function endHandoff(
  { webhooks }: Pick<Store, "webhooks">,
  session: SessionRow,
  end: Pick<Handoff, "status"> & Partial<Pick<Handoff, "note" | "released_by">>,
): Handoff | undefined {
  const active = session.handoffs.at(-1);
  if (active?.ended_at !== null) return undefined;
  Object.assign(active, end, { ended_at: new Date().toISOString() });
  announceHandoff(webhooks, session, active);
  return active;
}

/** Records the event of its status for webhooks. */
export function announceHandoff(webhooks: Store["webhooks"], session: SessionRow, handoff: Handoff): void {
  const { created_at, ended_at, expires_at, id, label, message, note, released_by, session_id, status, taken_at } =
    handoff;
  const data = {
    handoff_id: id,
    session_id,
    session_name: session.name,
    message,
    label,
    created_at,
    expires_at,
    taken_at,
    ended_at,
    released_by,
    note,
  };
  recordEvent(webhooks, session.projectId, { type: `handoff.${status}`, data } as Parameters<typeof recordEvent>[2]);
}
