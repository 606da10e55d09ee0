import { ApiError } from "@shoal/client";

/** What the service answered to a call that it refused. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** The refusal of a call. @throws {Error} when the call was not refused by the service. */
export async function refusalOf(call: Promise<unknown>): Promise<Refusal> {
  const outcome: unknown = await call.then(
    () => "it succeeded",
    (reason: unknown) => reason,
  );
  if (!ApiError.isInstance(outcome)) throw new Error(`The service did not refuse the call: ${String(outcome)}`);
  const { status, code, message } = outcome;
  return { status, code, message };
}

/** Status and code of a refusal in one text: `404 not_found`. */
export async function codeOf(call: Promise<unknown>): Promise<string> {
  const { status, code } = await refusalOf(call);
  return `${status} ${code}`;
}
