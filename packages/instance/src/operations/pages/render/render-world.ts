import { invalid } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import { pageNotResponding } from "../tabs/page-errors.ts";
import type { OpenTab } from "../tabs/session-pages.ts";

/** Of a script, for example for an invalid selector. */
export class ScriptFailed extends Error {}

/**
 * Calls a function in the isolated world of the page's document. Its result must have the type `T`. Returns `undefined`
 * while another document replaces it. @throws {ScriptFailed}
 */
export async function callInPage<T>(
  { page }: OpenTab,
  functionDeclaration: string,
  ...values: readonly unknown[]
): Promise<T | undefined> {
  const { cdp, session } = page;
  try {
    const { executionContextId } = await cdp.send(
      "Page.createIsolatedWorld",
      { frameId: page.mainFrameId, worldName: "shoal-page" },
      session.sessionId,
    );
    const answer = await cdp.send(
      "Runtime.callFunctionOn",
      {
        functionDeclaration,
        executionContextId,
        arguments: values.map((value) => ({ value })),
        returnByValue: true,
        awaitPromise: true,
      },
      session.sessionId,
    );
    if (answer.exceptionDetails !== undefined) throw new ScriptFailed(answer.exceptionDetails.text);
    return answer.result.value as T;
  } catch (error) {
    if (error instanceof ScriptFailed) throw error;
    // The page navigates; its main frame may have changed.
    await page.findMainFrame();
    return undefined;
  }
}

/** @throws {ServiceError} 409 if the page keeps replacing its document. */
export async function readFromPage<T>(tab: OpenTab, declaration: string, ...values: readonly unknown[]): Promise<T> {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const result = await callInPage<T>(tab, declaration, ...values);
    if (result !== undefined) return result;
  }
  throw ServiceError.of(pageNotResponding(tab.id, "navigates again and again"));
}

/** Turns the failure of a script into the 400 of its selector. */
export function explainSelector(field: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof ScriptFailed) throw ServiceError.of(invalid(field, "is not a valid CSS selector"));
    throw error;
  };
}
