import { ServiceError } from "@shoal/router";
import type { CreateBrowser } from "@shoal/schemas";
import type * as z from "zod/mini";

function isHarmless(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** @throws {ServiceError} 501 naming the fields that ask for what this version cannot do. */
function refuse(wanted: Readonly<Record<string, boolean>>): void {
  const fields = Object.keys(wanted).filter((field) => wanted[field]);
  if (fields.length === 0) return;
  throw new ServiceError(501, "not_implemented", `This version of Shoal cannot do what ${fields.map((field) => `body.${field}`).join(", ")} ${fields.length === 1 ? "asks" : "ask"} for yet. Leave ${fields.length === 1 ? "it" : "them"} away.`, {
    details: fields.map((field) => ({ code: "not_implemented", message: `body.${field}: not implemented yet` })),
  });
}

/** Refuses a session that this version cannot give; values that ask for nothing pass. */
export function refuseNotYetOnCreate(body: z.output<typeof CreateBrowser>): void {
  refuse({
    invocation_id: !isHarmless(body.invocation_id),
  });
}
