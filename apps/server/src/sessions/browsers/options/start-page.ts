import { invalid } from "@shoal/contract/refusals";
import { checkAnswer, type Instance, InstanceRefusal } from "@shoal/placement";
import { addressProblem } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import { noAnswer } from "../../instance-plane/no-answer.ts";

const field = "body.start_url";
/** The instance waits 10 s for the page, and wakes first if it sleeps. */
const timeoutMs = 30_000;

/** @throws {ServiceError} 400 for an address that no browser can open. */
export function refuseAddress(address: string): void {
  const refusal = addressProblem(address);
  if (refusal !== undefined) throw ServiceError.of(invalid(field, refusal.problem, { hint: refusal.hint }));
}

/**
 * Opens an address in the front tab of a running session, as `browsers.act` does. A page that loads on after ten
 * seconds counts as opened.
 * @param isAlone - the request makes no other change.
 * @throws {ServiceError} 409 `navigation_failed` with the reason.
 */
export async function openStartPage(instance: Instance, url: string, isAlone: boolean): Promise<void> {
  const body = JSON.stringify({ type: "navigate", url });
  try {
    const answer = await instance.request(
      {
        method: "POST",
        path: "/act",
        headers: { "content-type": "application/json" },
        signal: AbortSignal.timeout(timeoutMs),
      },
      body,
    );
    // The instance is not trusted, and its report on the page is of no use here.
    if (answer.statusCode === 200) answer.destroy();
    else await checkAnswer(answer, { responses: {} });
  } catch (error) {
    if (!(error instanceof InstanceRefusal)) throw noAnswer(error);
    const { code, hint, limit, problem, status } = error;
    const others = isAlone ? "" : " (the other changes were made)";
    throw new ServiceError(status, code, `${problem.replace(/\.$/, "")}${others}`, { field, limit, hint });
  }
}
