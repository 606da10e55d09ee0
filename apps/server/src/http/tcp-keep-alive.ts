/** Idle time before TCP keep-alive probes, which Node sends every second, at most ten times. */
export const tcpKeepAliveMs = 30_000;
