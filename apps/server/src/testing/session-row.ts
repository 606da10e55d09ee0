import type { SessionsTable } from "@shoal/database";
import type { Insertable } from "kysely";
import { createId } from "@shoal/primitives";

/** A session of another server, as a row. It is enough for tests that neither use its browser nor end it. */
export function sessionRow(
  values: Pick<Insertable<SessionsTable>, "id" | "project_id"> & Partial<Insertable<SessionsTable>>,
): Insertable<SessionsTable> {
  return {
    server_id: createId(),
    placement: "process",
    timeout_seconds: 60,
    headless: true,
    stealth: false,
    viewport: null,
    start_url: null,
    ...values,
  };
}
