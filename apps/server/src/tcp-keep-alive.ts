/** How long a connection is idle before the system asks the peer for a sign of life. Node then asks every second, ten times at most. */
export const tcpKeepAliveMs = 30_000;
