import { ServiceError } from "@shoal/router";
import type { CreateBrowser } from "@shoal/schemas";
import type * as z from "zod/mini";

/** @throws {ServiceError} 501 where a session is to belong to an invocation: this version has none. */
export function refuseNotYet({ invocation_id }: Pick<z.output<typeof CreateBrowser>, "invocation_id">): void {
  if (invocation_id === undefined || invocation_id === "") return;
  throw new ServiceError(501, "not_implemented", "This version of Shoal cannot do what body.invocation_id asks for yet. Leave it away.", {
    details: [{ code: "not_implemented", message: "body.invocation_id: not implemented yet" }],
  });
}
