import type { AssignInstance } from "@shoal/instance";
import { answerText, type Instance } from "@shoal/placement";

/** An instance answers within a millisecond; only a page that is to be seen from its first request on takes longer. */
const assignTimeoutMs = 10_000;

/** Tells an instance more of the session that it serves. Its time without use begins anew. @returns what it says where it does not take it, as one that is ending; `undefined` where it does. */
export async function assignAgain(
  instance: Instance,
  assign: AssignInstance,
  signal = AbortSignal.timeout(assignTimeoutMs),
): Promise<string | undefined> {
  const answer = await instance.request(
    { method: "POST", path: "/_instance/assign", headers: { "content-type": "application/json" }, signal },
    JSON.stringify(assign),
  );
  const said = await answerText(answer);
  return answer.statusCode === 200 ? undefined : said.slice(0, 500);
}
