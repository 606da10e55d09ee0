import * as z from "zod/mini";

const ErrorBody = z.object({ message: z.string(), hint: z.optional(z.string()) });

/** Why the service refused a request that was not sent with its client. */
export async function refusalText(answer: Response): Promise<string> {
  const body = ErrorBody.safeParse(await answer.json().catch(() => undefined));
  return body.success
    ? [body.data.message, body.data.hint ?? ""].join(" ").trim()
    : `The service answered ${answer.status}.`;
}
