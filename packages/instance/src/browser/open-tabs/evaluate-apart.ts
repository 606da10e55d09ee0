import type { CdpConnection } from "../cdp/cdp-connection.ts";
import type { AttachedPage } from "../pages/visible-page.ts";

/** Evaluates in an isolated world of the main frame, where the page cannot replace functions. @throws when the script throws. */
export async function evaluateApart(
  cdp: CdpConnection,
  { sessionId }: Pick<AttachedPage, "sessionId">,
  expression: string,
): Promise<unknown> {
  const { frameTree } = await cdp.send("Page.getFrameTree", undefined, sessionId);
  const { executionContextId: contextId } = await cdp.send(
    "Page.createIsolatedWorld",
    { frameId: frameTree.frame.id, worldName: "" },
    sessionId,
  );
  const { exceptionDetails, result } = await cdp.send(
    "Runtime.evaluate",
    { expression, contextId, awaitPromise: true, returnByValue: true },
    sessionId,
  );
  if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value;
}
