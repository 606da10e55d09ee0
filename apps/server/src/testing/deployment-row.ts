import type { DeploymentsTable } from "@shoal/database";
import { createId } from "@shoal/primitives";
import type { Insertable } from "kysely";

export function deploymentRow(
  values: Pick<Insertable<DeploymentsTable>, "id" | "project_id"> & Partial<Insertable<DeploymentsTable>>,
): Insertable<DeploymentsTable> {
  return {
    status: "running",
    version: "latest",
    force: false,
    region: "aws.us-east-1a",
    entrypoint: "index.ts",
    source_type: "file",
    env_names: "[]",
    env: Buffer.alloc(0),
    artifact: createId(),
    language: "node",
    ...values,
  };
}
