import type { SessionsTable } from "@shoal/database";
import type { Insertable } from "kysely";
import { createId } from "../ids.ts";

/** A session of some other server, as far as the database knows it: enough where nothing asks its browser, and nothing ends it. */
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
