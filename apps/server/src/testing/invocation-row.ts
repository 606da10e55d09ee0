import type { InvocationsTable } from "@shoal/database";
import { createId } from "@shoal/primitives";
import type { Insertable } from "kysely";

export function invocationRow(
  values: Pick<Insertable<InvocationsTable>, "id" | "project_id"> & Partial<Insertable<InvocationsTable>>,
): Insertable<InvocationsTable> {
  return {
    deployment_id: createId(),
    server_id: createId(),
    app_name: "shop",
    version: "latest",
    action_name: "price",
    status: "running",
    is_async: true,
    timeout_seconds: 900,
    ...values,
  };
}
