/** What the command's exit status means; scripts may rely on it. */
export const exitCodes = {
  ok: { status: 0, meaning: "it worked" },
  error: { status: 1, meaning: "something else went wrong" },
  usage: { status: 2, meaning: "the command line is wrong; see --help" },
  unauthorized: { status: 3, meaning: "no key, or a key that does not open this (401, 403)" },
  notFound: { status: 4, meaning: "it does not exist (404)" },
  conflict: { status: 5, meaning: "it contradicts what exists, a name that is taken for instance (409)" },
  invalid: { status: 6, meaning: "a value that the service refuses (400, 413, 415, 422)" },
  busy: { status: 7, meaning: "too much at once; try later (429, 529)" },
  server: { status: 8, meaning: "the service failed (5xx)" },
  connection: { status: 9, meaning: "the service cannot be reached" },
  timeout: { status: 10, meaning: "no answer in time" },
  notImplemented: { status: 11, meaning: "the service does not have this yet (501)" },
  start: { status: 12, meaning: "the service cannot start" },
  interrupted: { status: 130, meaning: "stopped by Ctrl-C" },
} as const;

/** Maps an HTTP status of 400 or above to an exit status. */
export function exitStatusOf(httpStatus: number): number {
  switch (httpStatus) {
    case 401:
    case 403:
      return exitCodes.unauthorized.status;
    case 404:
      return exitCodes.notFound.status;
    case 409:
      return exitCodes.conflict.status;
    case 429:
    case 529:
      return exitCodes.busy.status;
    case 501:
      return exitCodes.notImplemented.status;
    default:
      return httpStatus >= 500 ? exitCodes.server.status : exitCodes.invalid.status;
  }
}

/** The table that `shoal --help` ends with. */
export function exitCodeHelp(): string {
  return Object.values(exitCodes)
    .map(({ status, meaning }) => `  ${String(status).padStart(3)}  ${meaning}`)
    .join("\n");
}
