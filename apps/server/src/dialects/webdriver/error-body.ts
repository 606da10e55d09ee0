import type { ErrorBody } from "@shoal/schemas";

/** @param path - without the prefix. */
export const isCreation = (path: string): boolean => /^\/session\/?$/.test(path);

/** Errors in the shape of W3C WebDriver. @param path - without the prefix; of commands, below the session. */
export function errorBody({ message }: ErrorBody, status: number, path: string): object {
  const isUnknownId = status === 404 && path.startsWith("/session/");
  const text = isUnknownId ? "The session does not exist. Use the sessionId that POST /session returned." : message;
  return { value: { error: errorOf(status, path), message: text, stacktrace: "" } };
}

function errorOf(status: number, path: string): string {
  if (status === 405) return "unknown method";
  if (isCreation(path)) return status === 400 ? "invalid argument" : "session not created";
  // Commands of the driver, also unknown ones, are answered by the driver.
  if (status === 404)
    return /^\/(?:wd\/)?session\//.test(path) || path === "/wd/session" ? "invalid session id" : "unknown command";
  return status === 400 ? "invalid argument" : "unknown error";
}
