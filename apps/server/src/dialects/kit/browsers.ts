import type { Browser } from "@shoal/schemas";
import type { NativeCalls } from "./native-calls.ts";

/** A session, running or ended. @throws {ServiceError} 404. */
export async function browserOf(calls: NativeCalls, id: string): Promise<Browser> {
  return calls.call("getBrowser", { params: { id_or_name: id }, query: { include_deleted: true } });
}
