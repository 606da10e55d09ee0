import type { ExecutePlaywright, PlaywrightResult } from "@shoal/schemas";

/** What happened in the page. */
interface Outcome {
  readonly value?: unknown;
  readonly error?: { readonly name: string; readonly message: string; readonly stack: string };
  readonly thrown?: unknown;
}

/** Runs in the page, so that its exceptions arrive as data. */
const wrapped = (expression: string): string => `(async () => {
  try { return { value: await (${expression}\n) }; }
  catch (thrown) {
    if (!(thrown instanceof Error)) return { thrown };
    return { error: { name: String(thrown.name), message: String(thrown.message), stack: String(thrown.stack) } };
  }
})()`;

/**
 * Evaluates code in the front page.
 * @throws an `Error` with the name, message and stack of the page's exception, or the value that it threw.
 */
export async function evaluateIn(
  execute: (body: ExecutePlaywright) => Promise<PlaywrightResult>,
  code: string | ((argument: never) => unknown),
  argument?: unknown,
): Promise<unknown> {
  const expression = typeof code === "string" ? code : `(${String(code)})(${JSON.stringify(argument ?? null)})`;
  const { error, result, success } = await execute({
    code: `return await page.evaluate(${JSON.stringify(wrapped(expression))});`,
  });
  if (!success) throw new Error(error);
  // `wrapped` made it.
  const { error: exception, value, ...rest } = (result ?? {}) as Outcome;
  if (exception !== undefined)
    throw Object.assign(new Error(exception.message), { name: exception.name, stack: exception.stack });
  if ("thrown" in rest) throw rest.thrown;
  return value;
}
