import { ApiError } from "@shoal/client";

export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** Returns the refusal of a call. @throws {Error} if the service did not refuse it. */
export async function refusalOf(call: Promise<unknown>): Promise<Refusal> {
  const outcome: unknown = await call.then(
    () => "it succeeded",
    (reason: unknown) => reason,
  );
  if (!ApiError.isInstance(outcome)) throw new Error(`The service did not refuse the call: ${String(outcome)}`);
  const { status, code, message } = outcome;
  return { status, code, message };
}

export async function codeOf(call: Promise<unknown>): Promise<string> {
  const { status, code } = await refusalOf(call);
  return `${status} ${code}`;
}
