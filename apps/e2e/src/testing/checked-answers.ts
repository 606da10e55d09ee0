import { expect } from "vitest";
import { AnswerChecker } from "./answer-checker.ts";

/** Base URLs of services whose answers are compared with openapi.json. */
const origins = new Set<string>();
const problems: string[] = [];
let checker: AnswerChecker | undefined;

/** Compares every answer that `fetch` receives from the service with openapi.json; a mismatch fails the test. */
export function checkAnswersOf(baseUrl: string): void {
  origins.add(new URL(baseUrl).origin);
}

const plainFetch = globalThis.fetch;
globalThis.fetch = async (input, init) => {
  const response = await plainFetch(input, init);
  const url = new URL(input instanceof Request ? input.url : input);
  const method = (init?.method ?? (input instanceof Request ? input.method : "GET")).toUpperCase();
  if (origins.has(url.origin) && method !== "HEAD") await check(method, url, response);
  return response;
};

async function check(method: string, url: URL, response: Response): Promise<void> {
  const contentType = response.headers.get("content-type") ?? "";
  let text = "";
  try {
    if (contentType.startsWith("application/json")) text = await response.clone().text();
  } catch {
    // The test has cut the connection.
    return;
  }
  checker ??= new AnswerChecker();
  const problem = checker.problemOf({ method, path: url.pathname, status: response.status, contentType, text });
  if (problem !== undefined) problems.push(problem);
}

/** Fails the test after which it is called. */
export function expectNoProblems(): void {
  expect(problems.splice(0), "answers that openapi.json does not describe").toEqual([]);
}

/** A later service of something else may have the same port. */
export function forgetServices(): void {
  origins.clear();
}
