import * as z from "zod/mini";

/** The message ends with the hint. */
const ErrorBody = z.object({ message: z.string() });

/** Why the service refused a request that was not sent with its client. */
export async function refusalText(answer: Response): Promise<string> {
  const body = ErrorBody.safeParse(await answer.json().catch(() => undefined));
  return body.success ? body.data.message : `The service answered ${answer.status}.`;
}
