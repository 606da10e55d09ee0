/** Scripts may rely on these values. */
export const exitCodes = {
  ok: { status: 0, meaning: "success" },
  error: { status: 1, meaning: "other error" },
  usage: { status: 2, meaning: "invalid command line; see --help" },
  unauthorized: { status: 3, meaning: "missing or insufficient API key (401, 403)" },
  notFound: { status: 4, meaning: "not found (404)" },
  conflict: { status: 5, meaning: "conflict, for example a name in use (409)" },
  invalid: { status: 6, meaning: "value rejected by the service (400, 413, 415, 422)" },
  busy: { status: 7, meaning: "too many requests; try later (429, 529)" },
  server: { status: 8, meaning: "service failure (5xx)" },
  connection: { status: 9, meaning: "service unreachable" },
  timeout: { status: 10, meaning: "timeout" },
  notImplemented: { status: 11, meaning: "not implemented by the service (501)" },
  start: { status: 12, meaning: "the service cannot start" },
  interrupted: { status: 130, meaning: "interrupted by Ctrl-C" },
} as const;

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

export function exitCodeHelp(): string {
  return Object.values(exitCodes)
    .map(({ status, meaning }) => `  ${String(status).padStart(3)}  ${meaning}`)
    .join("\n");
}
