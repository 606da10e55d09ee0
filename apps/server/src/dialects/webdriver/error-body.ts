import type { ErrorBody } from "@shoal/schemas";

const creation = /^\/webdriver\/session\/?(?:\?|$)/;
const others = /^\/(?:webdriver(?:[/?]|$)|browsers\/[^/?]+\/wd(?:[/?]|$))/;

/** Errors in the shape of W3C WebDriver. @param url - of the operation. @returns `undefined` for other paths. */
export function webDriverError({ message }: ErrorBody, status: number, url: string): object | undefined {
  if (!others.test(url)) return undefined;
  return { value: { error: errorOf(status, url), message, stacktrace: "" } };
}

function errorOf(status: number, url: string): string {
  if (creation.test(url)) return status === 400 ? "invalid argument" : "session not created";
  // Commands of the driver, also unknown ones, are answered by the driver.
  if (status === 404) return /^\/webdriver\/(?!session)/.test(url) ? "unknown command" : "invalid session id";
  return status === 400 ? "invalid argument" : "unknown error";
}
