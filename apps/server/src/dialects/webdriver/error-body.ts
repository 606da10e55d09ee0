import type { ForeignError } from "@shoal/router/fastify";
import type { ErrorBody } from "@shoal/schemas";
import type { IncomingMessage } from "node:http";

const creation = /^\/webdriver\/session\/?(?:\?|$)/;
const others = /^\/(?:webdriver(?:[/?]|$)|browsers\/[^/?]+\/wd(?:[/?]|$))/;

/** Errors in the shape of W3C WebDriver. @param request - its URL is that of the operation. @returns `undefined` for other paths. */
export function webDriverError(
  { message }: ErrorBody,
  status: number,
  { headers, url = "" }: Pick<IncomingMessage, "headers" | "url">,
): ForeignError | undefined {
  if (!others.test(url)) return undefined;
  // Clients of Java send the key of their address only after this challenge. Pages do not get it: their browser would ask
  // the user for a key, store it, and add it to requests of other sites.
  const asksForKey = status === 401 && creation.test(url) && headers.origin === undefined;
  return {
    status,
    body: { value: { error: errorOf(status, url), message, stacktrace: "" } },
    ...(asksForKey && { headers: { "www-authenticate": ["Bearer", 'Basic realm="Shoal"'] } }),
  };
}

function errorOf(status: number, url: string): string {
  if (creation.test(url)) return status === 400 ? "invalid argument" : "session not created";
  // Commands of the driver, also unknown ones, are answered by the driver.
  if (status === 404) return /^\/webdriver\/(?!session)/.test(url) ? "unknown command" : "invalid session id";
  return status === 400 ? "invalid argument" : "unknown error";
}
